"""Named arrays in a safetensors file: what goes in comes out, whole or not at all."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from isogloss.storage.arrays import read_tensors, write_tensors
from isogloss.storage.files import write_bytes

ARRAYS = arrays.arrays(
    st.sampled_from([np.float32, np.float64, np.int32, np.int64, np.uint8, np.bool_]), arrays.array_shapes(min_dims=0)
)


@settings(max_examples=20, deadline=None)
@given(tensors=st.dictionaries(st.text(min_size=1), ARRAYS, max_size=4), metadata=st.dictionaries(st.text(), st.text()))
def test_arrays_and_text_come_back_as_they_were(tmp_path_factory, tensors, metadata):
    tensors = {name: array for name, array in tensors.items() if name != "__metadata__"}
    path = tmp_path_factory.mktemp("tensors") / "kept.safetensors"
    write_tensors(path, tensors, metadata)
    found, text = read_tensors(path)
    assert text == metadata
    assert found.keys() == tensors.keys()
    for name, array in tensors.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(found[name], array)


def test_parts_of_arrays_are_written_in_their_own_order(tmp_path):
    table = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    write_tensors(tmp_path / "kept", {"middle": table[:, 1], "turned": table.T, "nothing": table[:0]})
    found, _ = read_tensors(tmp_path / "kept")
    np.testing.assert_array_equal(found["middle"], table[:, 1])
    np.testing.assert_array_equal(found["turned"], table.T)
    assert found["nothing"].shape == (0, 3, 4)
    assert not found["middle"].flags.writeable  # it is mapped


@pytest.mark.parametrize("dtype", ["?", "u1", "i1", "u2", "i2", "f2", "u4", "i4", "f4", "u8", "i8", "f8"])
def test_tensors_keep_their_type(dtype, tmp_path):
    array = np.arange(6).astype(dtype).reshape(2, 3)
    write_tensors(tmp_path / "kept", {"array": array})
    found, _ = read_tensors(tmp_path / "kept")
    assert found["array"].dtype == array.dtype
    np.testing.assert_array_equal(found["array"], array)


def test_other_tools_read_the_file(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    write_tensors(tmp_path / "kept", {"table": np.eye(3)})
    np.testing.assert_array_equal(safetensors.load_file(tmp_path / "kept")["table"], np.eye(3))


@pytest.mark.parametrize("left", [0, 5, 60, -1])
def test_a_file_that_is_not_whole_is_said_to_be(tmp_path, left):
    path = tmp_path / "kept.safetensors"
    write_tensors(path, {"table": np.zeros((4, 5))}, {"some": "text"})
    path.write_bytes(path.read_bytes()[:left])
    with pytest.raises(ValueError, match=r"^kept\.safetensors is not whole: "):
        read_tensors(path)
    with pytest.raises(FileNotFoundError):
        read_tensors(tmp_path / "absent")


def test_a_write_that_fails_leaves_the_old_file(tmp_path):
    path = tmp_path / "kept"
    write_tensors(path, {"table": np.zeros(2)})
    with pytest.raises(Exception, match="dtype"):
        write_tensors(path, {"table": np.array(["no", "numbers"], dtype=object)})
    np.testing.assert_array_equal(read_tensors(path)[0]["table"], np.zeros(2))
    assert [each.name for each in tmp_path.iterdir()] == ["kept"]


def test_bytes_are_written_as_they_are(tmp_path):
    path, content = tmp_path / "new" / "bytes", bytes(range(256)) + b"\r\n\n\r"
    write_bytes(path, content)
    assert path.read_bytes() == content
    write_bytes(path, b"")
    assert path.read_bytes() == b""

"""Blocks of code are run as a reader would run them, and what they print is compared with what the page says."""

import pytest


@pytest.fixture
def reading(house, tmp_path):
    """Run the blocks of a page; how many were run."""
    from docsite.running import Reader

    folder = tmp_path / "reader"
    folder.mkdir()

    def read(text):
        (page,) = house(index=f"# Home\n\n{text}\n")
        with Reader(page, folder) as reader:
            return reader.run()

    return read


def fenced(language, *lines):
    return "\n".join([f"```{language}", *lines, "```\n\n"])


def test_commands_and_python_share_a_folder_and_python_its_names(reading):
    count = reading(
        fenced("sh", "mkdir notes", "cat > notes/a.txt <<'END'", "one", "END")
        + fenced("console", "$ cat notes/a.txt", "one", "$ ls", "notes")
        + fenced("python", "from pathlib import Path", "text = Path('notes/a.txt').read_text()")
        + fenced("python", ">>> text.strip()", "'one'", ">>> again = text * 2")
        + fenced("python", "print(again)")
        + fenced("text output", "one", "one")
    )
    assert count == 5


def test_blocks_that_are_marked_and_other_languages_are_left_out(reading):
    assert reading(fenced("console not-run", "$ false") + fenced("text", "$ false") + fenced("json", "{")) == 0


@pytest.mark.parametrize(
    ("block", "complaint"),
    [
        (fenced("console", "$ echo one two", "one three"), "docs/index.md:3: expected 'one three' in:\none two"),
        (fenced("console", "$ printf 'b\\na\\n'", "a", "b"), "expected 'b'"),
        (fenced("console", "$ echo sad; exit 3"), "ended with status 3: echo sad; exit 3\nsad"),
        (fenced("console", "echo one"), "begins with a command"),
        (fenced("sh", "false", "true"), "ended with status 1"),
        (fenced("python", "print(1 / 0)"), "docs/index.md:3: division by zero"),
        (fenced("python", ">>> 1 + 1", "3"), "Got:\n    2"),
        (fenced("python", "print('a')") + fenced("text output", "b"), "docs/index.md:7: expected 'b'"),
    ],
)
def test_a_block_that_does_not_do_what_the_page_says_is_named(reading, block, complaint):
    from docsite.running import BlockError

    with pytest.raises(BlockError) as caught:
        reading(block)
    assert complaint in str(caught.value)


@pytest.mark.parametrize("lines", [["first", "third"], ["second   line has"], ["sec… long"], ["...long end"], [""]])
def test_output_is_compared_loosely(lines):
    from docsite.running import check_output

    check_output(lines, "first line\nsecond line  has a long end\nthird\n")


def test_a_command_goes_on_in_lines_that_say_so(reading):
    assert reading(fenced("console", "$ echo one \\", "> two", "one two")) == 1

"""Code blocks are run as a reader would run them, and their output is compared with the page."""

import pytest
from run_examples import BlockError, Runner, check_output, main, read_blocks


@pytest.fixture
def run_page(tmp_path):
    """A function that runs the blocks of a page; returns how many were run."""

    def run(text):
        with Runner("page.md", tmp_path) as runner:
            return runner.run(read_blocks(f"# Title\n\n{text}\n"))

    return run


def fenced(language, *lines):
    return "\n".join([f"```{language}", *lines, "```\n\n"])


def test_commands_and_python_share_a_folder_and_python_its_names(run_page):
    count = run_page(
        fenced("sh", "mkdir notes", "cat > notes/a.txt <<'END'", "one", "END")
        + fenced("console", "$ cat notes/a.txt", "one", "$ ls", "notes")
        + fenced("python", "from pathlib import Path", "text = Path('notes/a.txt').read_text()")
        + fenced("python", ">>> text.strip()", "'one'", ">>> again = text * 2")
        + fenced("python", "print(again)")
        + fenced("text output", "one", "one")
    )
    assert count == 5


def test_marked_blocks_and_other_languages_are_skipped(run_page):
    assert run_page(fenced("console not-run", "$ false") + fenced("text", "$ false") + fenced("json", "{")) == 0


@pytest.mark.parametrize(
    ("block", "complaint"),
    [
        (fenced("console", "$ echo one two", "one three"), "page.md:3: expected 'one three' in:\none two"),
        (fenced("console", "$ printf 'b\\na\\n'", "a", "b"), "expected 'b'"),
        (fenced("console", "$ echo sad; exit 3"), "exit status 3: echo sad; exit 3\nsad"),
        (fenced("console", "echo one"), "begins with a command"),
        (fenced("sh", "false", "true"), "exit status 1"),
        (fenced("python", "print(1 / 0)"), "page.md:3: division by zero"),
        (fenced("python", ">>> 1 + 1", "3"), "Got:\n    2"),
        (fenced("python", "print('a')") + fenced("text output", "b"), "page.md:7: expected 'b'"),
    ],
)
def test_a_block_that_does_not_do_what_the_page_says_is_named(run_page, block, complaint):
    with pytest.raises(BlockError) as caught:
        run_page(block)
    assert complaint in str(caught.value)


@pytest.mark.parametrize("lines", [["first", "third"], ["second   line has"], ["sec… long"], ["...long end"], [""]])
def test_output_is_compared_loosely(lines):
    check_output(lines, "first line\nsecond line  has a long end\nthird\n")


def test_a_command_continues_in_marked_lines(run_page):
    assert run_page(fenced("console", "$ echo one \\", "> two", "one two")) == 1


def test_the_tool_names_the_first_failure(tmp_path, capsys):
    good, bad = tmp_path / "good.md", tmp_path / "bad.md"
    good.write_text(fenced("sh", "true"))
    bad.write_text(fenced("sh", "false"))
    assert main([str(good), str(bad)]) == 1
    captured = capsys.readouterr()
    assert captured.out == f"{good}: 1 blocks run\n"
    assert captured.err.startswith(f"{bad}:1: exit status 1")

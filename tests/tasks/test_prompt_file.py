import json
import os
import random

import pytest

from grpo_gui.errors import BadInputError
from grpo_gui.tasks import Problem, is_held_out, make_task
from grpo_gui.tasks.prompt_file import PromptFileTask, read_prompt_file


@pytest.fixture
def write(tmp_path):
    def write_file(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


def test_that_jsonl_rows_become_problems(write):
    path = write(
        "rows.jsonl",
        '{"prompt": "2+2?", "answer": "4", "level": "easy", "tags": ["sum"]}\n'
        '\n{"prompt": "½ of 3.0?", "answer": 1.50}\n',
    )
    assert list(read_prompt_file(path)) == [
        Problem("file", "2+2?", "4", {"level": "easy", "tags": '["sum"]'}),
        Problem("file", "½ of 3.0?", "1.50", {}),
    ]


def test_that_csv_rows_become_problems_with_quotes_commas_and_line_breaks(write):
    path = write("rows.csv", '\ufeffprompt,answer,level\r\n"Sort, please:\n31",13,easy\r\n\r\nAdd 1,2,hard\r\n')
    assert list(read_prompt_file(path, needs_answer=True)) == [
        Problem("file", "Sort, please:\n31", "13", {"level": "easy"}),
        Problem("file", "Add 1", "2", {"level": "hard"}),
    ]


def test_that_an_answer_is_optional_where_no_reward_needs_it(write):
    path = write("rows.jsonl", '{"prompt": "Tell a joke"}\n{"prompt": "Another", "answer": null}\n')
    assert [problem.answer for problem in read_prompt_file(path)] == [None, None]


BAD_FILES = [
    ("notes.txt", "prompt\nhello\n", "must end in .jsonl or .csv"),
    ("empty.jsonl", "", "holds no prompts"),
    ("blank.jsonl", "\n\n", "holds no prompts"),
    ("header.csv", "prompt,answer\n", "holds no prompts"),
    ("empty.csv", "", "holds no prompts"),
    (
        "a.jsonl",
        '{"prompt": "ok", "answer": "1"}\n{"question": "2", "answer": "1"}\n',
        "line 2: there is no `prompt`, only question",
    ),
    ("a.jsonl", '{"prompt": "ok", "answer": "1"}\n{"prompt": "2"}\n', "line 2: there is no `answer`"),
    ("a.jsonl", '{"prompt": "ok", "answer": " "}\n', "line 1: `answer` is empty"),
    ("a.jsonl", '{"prompt": "ok", "answer": [1]}\n', "line 1: `answer` must be text or a number, not a list"),
    ("a.jsonl", '{"prompt": "ok", "answer": true}\n', "must be text or a number, not true or false"),
    ("a.jsonl", '{"prompt": 5, "answer": "1"}\n', "line 1: `prompt` must be text, not a number"),
    ("a.jsonl", '{"prompt": [{"role": "user"}], "answer": "1"}\n', "must be text, not a list"),
    ("a.jsonl", '{"prompt": "  ", "answer": "1"}\n', "line 1: `prompt` is empty"),
    ("a.jsonl", '{"prompt": "ok", "answer": "1"}\n{"prompt": \n', "line 2 is not JSON"),
    ("a.jsonl", "[" * 100_000 + "\n", "line 1 is not JSON: it is nested"),
    ("a.jsonl", '{"prompt": "ok", "answer": ' + "9" * 5000 + "}\n", "line 1 is not JSON: it is nested or long"),
    ("a.jsonl", "[1, 2]\n", "line 1: expected an object"),
    ("a.jsonl", '{"prompt": "\\ud800", "answer": "1"}\n', "half of a surrogate pair"),
    ("a.jsonl", '{"prompt": "ok", "answer": "1", "completions": "x"}\n', "column `completions` has a name"),
    (
        "a.jsonl",
        b'{"prompt": "ok", "answer": "1"}\n{"prompt": "\xff", "answer": "1"}\n',
        r"line 2 is not UTF-8 \(byte 13\)",
    ),
    ("a.jsonl", '{"prompt": "' + "x" * 1_000_001 + '"}', "line 1 is longer than 1 MB"),
    ("a.csv", "question,answer\n2+2?,4\n", "line 1: the header has no column `prompt`, only question, answer"),
    ("a.csv", "prompt;answer\n2+2?;4\n", "no column `prompt`, only prompt;answer"),
    ("a.csv", "prompt\n2+2?\n", "line 2: there is no `answer`"),
    ("a.csv", 'prompt,answer\n"a\nb",1\none, two,2\n', "line 4 has 3 fields where the header has 2"),
    ("a.csv", "prompt,answer\nonly one\n", "line 2 has 1 fields where the header has 2"),
    ("a.csv", "prompt,prompt,answer\na,b,1\n", "two columns have the same name"),
    ("a.csv", 'prompt,answer\n"open,1\n', "line 2 is not CSV"),
    ("a.csv", "prompt,answer\n" + "x" * 200_000 + ",1\n", "line 2 is not CSV: field larger"),
]


@pytest.mark.parametrize(("name", "content", "sentence"), BAD_FILES)
def test_that_a_bad_file_is_refused_naming_file_and_line(write, name, content, sentence):
    path = write(name, content)
    with pytest.raises(BadInputError, match=sentence) as caught:
        make_task("file", prompt_file=str(path), needs_answer=True)
    assert str(path) in str(caught.value)
    assert str(caught.value).endswith((".", "?"))


def test_that_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(BadInputError, match="cannot be read: No such file"):
        PromptFileTask(tmp_path / "missing.jsonl")
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    with pytest.raises(
        BadInputError, match="cannot be read: Is a directory" if os.name == "posix" else "cannot be read"
    ):
        PromptFileTask(folder)


def many_rows(write, count):
    rows = [json.dumps({"prompt": f"Prompt {number}", "answer": str(number)}) for number in range(count)]
    return PromptFileTask(write("rows.jsonl", "\n".join(rows)))


def test_that_the_held_out_rows_of_a_file_are_never_drawn(write):
    task, rng = many_rows(write, 200), random.Random(0)
    held_out = {problem.prompt for problem in task.held_out(1000)}
    assert held_out == {f"Prompt {number}" for number in range(200) if is_held_out(f"Prompt {number}")}
    assert len(task) == 200
    assert held_out.isdisjoint(task.sample(rng).prompt for _ in range(2000))


def test_that_held_out_rows_are_limited_repeatable_and_differ_by_seed(write):
    task = many_rows(write, 500)
    assert len(task.held_out(5)) == 5
    assert task.held_out(20) == task.held_out(20)
    assert task.held_out(20, seed=1) != task.held_out(20, seed=2)


def test_that_equal_prompts_stand_once_in_the_held_out_set(write):
    held_out = next(f"Prompt {number}" for number in range(1000) if is_held_out(f"Prompt {number}"))
    trained = next(f"Prompt {number}" for number in range(1000) if not is_held_out(f"Prompt {number}"))
    rows = [json.dumps({"prompt": prompt, "answer": "x"}) for prompt in (held_out, trained, held_out, held_out)]
    task = PromptFileTask(write("rows.jsonl", "\n".join(rows)))
    assert [problem.prompt for problem in task.held_out(10)] == [held_out]


def test_that_a_single_row_is_trained_on_even_when_its_checksum_would_hold_it_out(write):
    prompt = next(f"Prompt {number}" for number in range(1000) if is_held_out(f"Prompt {number}"))
    task = PromptFileTask(write("rows.jsonl", json.dumps({"prompt": prompt, "answer": "x"})))
    assert task.sample(random.Random(0)).prompt == prompt
    assert task.held_out(10) == []

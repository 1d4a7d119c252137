import json
import os
import random
import tracemalloc

import pytest

from grpo_gui.errors import BadInputError
from grpo_gui.tasks import Problem, is_held_out, is_right, make_task
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
        Problem("file", "2+2?", "4", {"level": "easy", "tags": ["sum"]}),
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
    ("notes.txt", "prompt\nhello\n", r"must end in \.jsonl"),
    ("empty.jsonl", "", "holds no prompts"),
    ("blank.jsonl", "\n\n", "holds no prompts"),
    ("header.csv", "prompt,answer\n", "holds no prompts"),
    ("empty.csv", "", "holds no prompts"),
    (
        "a.jsonl",
        '{"prompt": "ok", "answer": "1"}\n{"problem": "2", "answer": "1"}\n',
        "line 2: there is no `prompt`, only problem",
    ),
    ("a.jsonl", '{"prompt": "ok", "answer": "1"}\n{"prompt": "2"}\n', "line 2: there is no `answer`"),
    ("a.jsonl", '{"prompt": "ok", "answer": " "}\n', "line 1: `answer` is empty"),
    ("a.jsonl", '{"prompt": "ok", "answer": [1]}\n', "line 1: `answer` must be text or a number, not a list"),
    ("a.jsonl", '{"prompt": "ok", "answer": true}\n', "must be text or a number, not true or false"),
    (
        "a.jsonl",
        '{"prompt": 5, "answer": "1"}\n',
        "line 1: `prompt` must be text or a list of chat messages, not a number",
    ),
    ("a.jsonl", '{"prompt": [{"role": "user"}], "answer": "1"}\n', "the `content` of a chat message must be text"),
    ("a.jsonl", '{"prompt": ["hello"], "answer": "1"}\n', "a chat message must be an object"),
    ("a.jsonl", '{"prompt": [], "answer": "1"}\n', "must end with a message that the model answers"),
    ("a.jsonl", '{"prompt": "ok"}\n'.encode("utf-16"), "is UTF-16; save the file as UTF-8"),
    ("a.csv", "prompt\nok\n".encode("utf-16"), "is UTF-16; save the file as UTF-8"),
    ("a.json", '{"prompt": "ok"}', "must hold a JSON array"),
    ("a.json", '[{"prompt": "ok", "answer": "1"}, 5]', "row 2 is no object"),
    ("a.json", '[{"prompt": "ok"},\n', "line 2 is not JSON"),
    ("a.json", "[]", "holds no prompts"),
    ("a.jsonl", '{"prompt": "  ", "answer": "1"}\n', "line 1: `prompt` is empty"),
    ("a.jsonl", '{"prompt": "ok", "answer": "1"}\n{"prompt": \n', "line 2 is not JSON"),
    ("a.jsonl", "[" * 100_000 + "\n", "line 1 is not JSON: it is nested"),
    ("a.jsonl", '{"prompt": "ok", "answer": ' + "9" * 5000 + "}\n", "line 1 is not JSON: it is nested or long"),
    ("a.jsonl", "[1, 2]\n", "line 1 is no object such as"),
    ("a.jsonl", '{"prompt": "\\ud800", "answer": "1"}\n', "half of a surrogate pair"),
    ("a.jsonl", '{"prompt": "ok", "answer": "1", "completions": "x"}\n', "column `completions` has a name"),
    (
        "a.jsonl",
        b'{"prompt": "ok", "answer": "1"}\n{"prompt": "\xff", "answer": "1"}\n',
        r"line 2 is not UTF-8 \(byte 13\)",
    ),
    ("a.jsonl", '{"prompt": "' + "x" * 1_000_001 + '"}', "line 1 is longer than 1 MB"),
    ("a.csv", "problem,answer\n2+2?,4\n", "line 1: the header has no column `prompt`, only problem, answer"),
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


def test_that_a_json_array_and_parquet_become_the_same_problems_as_json_lines(write, tmp_path):
    rows = [{"prompt": "2+2?", "answer": "4", "level": 1.5}, {"prompt": "3+3?", "answer": "6", "level": None}]
    expected = [Problem("file", "2+2?", "4", {"level": 1.5}), Problem("file", "3+3?", "6", {"level": None})]
    assert list(read_prompt_file(write("a.jsonl", "\n".join(map(json.dumps, rows))))) == expected
    assert list(read_prompt_file(write("a.json", json.dumps(rows, indent=1)))) == expected
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra data")
    pyarrow = pytest.importorskip("pyarrow")
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "a.parquet")
    assert list(read_prompt_file(tmp_path / "a.parquet")) == expected
    with pytest.raises(BadInputError, match="no readable Parquet"):
        list(read_prompt_file(write("b.parquet", (tmp_path / "a.parquet").read_bytes()[:100])))


def test_that_chat_messages_are_kept_and_shown_as_text(write):
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2+2?"}]
    rows = [{"prompt": chat, "answer": "4"}, {"prompt": chat[1:], "answer": "4"}]
    both, one = read_prompt_file(write("a.jsonl", "\n".join(map(json.dumps, rows))))
    assert both.messages == (("system", "Be brief."), ("user", "2+2?"))
    assert both.prompt == "system: Be brief.\nuser: 2+2?"
    assert one.prompt == "2+2?"


def test_that_rows_of_gsm8k_have_the_number_behind_the_mark_as_answer(write):
    row = {"question": "How many?", "answer": "9 * 2 = 18, so $1,018.\n#### 1,018"}
    (problem,) = read_prompt_file(write("a.jsonl", json.dumps(row)), needs_answer=True)
    assert (problem.prompt, problem.answer) == ("How many?", "1018")
    assert problem.columns == {"solution": row["answer"]}
    assert is_right(problem, "I think it is 18, no, 1,018")
    assert not is_right(problem, "1018 or 18")


def test_that_all_bad_rows_are_listed_with_their_lines(write):
    path = write("a.jsonl", '{"prompt": "ok"}\n{"prompt": 1}\n{"prompt": "ok"}\nx\n{}\n')
    with pytest.raises(BadInputError) as caught:
        make_task("file", prompt_file=str(path))
    for words in ("Line 2: `prompt` must be text", "Line 4 is not JSON", "Line 5: there is no `prompt`"):
        assert words in str(caught.value)
    many = write("b.jsonl", "x\n" * 1000)
    with pytest.raises(BadInputError, match="Only the first are listed"):
        make_task("file", prompt_file=str(many))


def test_that_rows_with_different_columns_are_taken(write):
    path = write("a.jsonl", '{"prompt": "a", "x": 1}\n{"prompt": "b", "y": 2}\n')
    assert [problem.columns for problem in read_prompt_file(path)] == [{"x": 1}, {"y": 2}]


def test_that_a_long_file_is_read_with_progress_and_little_memory(tmp_path):
    path = tmp_path / "long.jsonl"
    with path.open("w") as file:
        for number in range(40_000):
            file.write(json.dumps({"prompt": f"Prompt {number}", "answer": "x", "text": "y" * 500}) + "\n")
    shares: list[float] = []
    tracemalloc.start()
    task = make_task("file", prompt_file=str(path), progress=shares.append)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(shares) == 4
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)
    assert peak < 5_000_000 < path.stat().st_size
    problem = task.sample(random.Random(1))
    assert problem.prompt.startswith("Prompt ")
    assert problem.columns["text"] == "y" * 500


def test_that_a_file_that_changes_while_it_is_in_use_is_told(write):
    task = many_rows(write, 50)
    task.path.write_text("{}\n" * 50)
    with pytest.raises(BadInputError, match="has changed while it is in use"):
        task.held_out(50)

from grpo_gui.events import EvalCompleted, RunStarted, RunStatus, TrainerStatus
from grpo_gui.store.reader import StoreReader
from grpo_gui.store.records import CompletionQuery, GroupRef
from grpo_gui.store.writer import StoreWriter
from tests.store.samples import new_run, step


def test_that_a_step_comes_back_as_it_was_emitted(tmp_path):
    path = tmp_path / "a.db"
    writer = StoreWriter.open(path)
    run_id = writer.create_run(new_run())
    events = [step(run_id, n) for n in (1, 2)]
    writer.emit(RunStarted(run_id, 0, "cpu", 816768, (("torch", "2.13.0"),)))
    writer.emit(TrainerStatus(run_id, RunStatus.RUNNING, 0))
    for event in events:
        writer.emit(event)
    writer.emit(EvalCompleted(run_id, 2, 1e9, (("eval/accuracy", 0.5),)))
    assert writer.flush()
    with StoreReader(path) as reader:
        run = reader.run(run_id)
        assert run == reader.runs()[0]
        assert (run.status, run.steps_done, run.completions) == (RunStatus.RUNNING, 2, 16)
        assert dict(run.final_metrics) == {"reward": 0.02, "kl": events[1].metrics[1][1], "eval/accuracy": 0.5}
        for event in events:
            for group in event.groups:
                record = reader.group(GroupRef(run_id, event.step, group.index))
                assert record.completions == group.completions
        assert reader.points(run_id, "reward").values.tolist() == [0.01, 0.02]
        assert reader.totals(run_id).samples.tolist() == [8, 16]
        page = reader.completion_page(CompletionQuery(run_id), limit=10)
        assert len(page.rows) == 10
        assert len(reader.completion_page(CompletionQuery(run_id), page.cursor, 10).rows) == 6
        assert len(reader.group_page(CompletionQuery(run_id, sort="reward_high")).groups) == 4
        assert reader.count(CompletionQuery(run_id)) == (16, 4)
        assert reader.count(CompletionQuery(run_id, search="which")) == (16, 4)
    writer.close()

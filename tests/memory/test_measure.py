"""What the question set says of the search by words."""

from tests.memory.measure import measured, questions


async def test_all_questions_that_share_a_word_with_their_answer_are_answered() -> None:
    outcome = await measured()
    assert len(questions()) >= 120
    assert all(all(answers) for kind, answers in outcome.items() if kind != "paraphrases")
    assert sum(outcome["paraphrases"]) >= 13

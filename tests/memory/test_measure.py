"""What the question set says of the searches."""

from tests.memory.measure import measured, questions


async def test_words_answer_what_shares_a_word_and_with_vectors_besides_more_is_answered_and_nothing_less() -> None:
    by_words, by_both = await measured("bm25"), await measured("hybrid")
    assert len(questions()) >= 120
    for outcome in (by_words, by_both):
        assert all(all(answers) for kind, answers in outcome.items() if kind != "paraphrases")
    assert 13 <= sum(by_words["paraphrases"]) < sum(by_both["paraphrases"])

"""Strategy for blocks of a prompt."""

from __future__ import annotations

from hypothesis import strategies as st

from pytest_dvwiki.agent.budget import PromptBlock

TEXTS = st.text(alphabet=st.sampled_from("abc def_1—…`中\n"), min_size=1, max_size=160)
BLOCKS = st.lists(
    st.builds(
        PromptBlock,
        header=TEXTS.map(lambda text: f"**page** ({' '.join(text.split())})"),
        lines=st.lists(TEXTS, max_size=3).map(tuple),
        excerpt=TEXTS.map(lambda text: f"Quoted:\n```text\n{text}\n```") | st.just(""),
    ),
    min_size=1,
    max_size=8,
)

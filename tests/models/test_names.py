"""However a model's name is spelled, it is found; what is no model's name stays unknown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.models import DEFAULT_WINDOW, Model, find_model, list_models

# spelling, vendor, id
SPELLINGS = [
    ("gpt-5", "openai", "gpt-5"),
    ("GPT-4o", "openai", "gpt-4o"),
    ("  gpt-4o\n", "openai", "gpt-4o"),
    ("openai/gpt-5", "openai", "gpt-5"),
    ("openai:gpt-5", "openai", "gpt-5"),
    ("openai-responses:gpt-5", "openai", "gpt-5"),
    ("gateway/openai:gpt-5", "openai", "gpt-5"),
    ("litellm_proxy/gpt-4o", "openai", "gpt-4o"),
    # dates
    ("gpt-4o-2024-08-06", "openai", "gpt-4o-2024-08-06"),
    ("gpt-4o-2025-01-31", "openai", "gpt-4o"),
    ("gpt-5-20250807", "openai", "gpt-5"),
    ("gpt-5-mini-2025-08-07", "openai", "gpt-5-mini"),
    ("gpt-4-0613", "openai", "gpt-4"),
    ("gpt-4-1106-preview", "openai", "gpt-4-turbo"),
    ("openai:gpt-4-1106-preview", "openai", "gpt-4-turbo"),
    ("claude-sonnet-4-5-20250929", "anthropic", "claude-sonnet-4-5-20250929"),
    ("claude-opus-4-7-20260414", "anthropic", "claude-opus-4-7"),
    ("gemini-2.0-flash-lite-002", "google", "gemini-2.0-flash-lite"),
    ("mistral-large-2411", "mistral", "mistral-large-2411"),
    # releases
    ("claude-3-5-sonnet-latest", "anthropic", "claude-3-5-sonnet"),
    ("claude-3-opus", "anthropic", "claude-3-opus-latest"),
    ("claude-sonnet-4", "anthropic", "claude-sonnet-4-0"),
    ("gemini-3-pro", "google", "gemini-3-pro-preview"),
    ("codex-mini-latest", "openai", "codex-mini"),
    # separators and order
    ("claude-sonnet-4.5", "anthropic", "claude-sonnet-4-5"),
    ("claude-4.5-sonnet", "anthropic", "claude-sonnet-4-5"),
    ("claude-4-5-sonnet-20250929", "anthropic", "claude-sonnet-4-5-20250929"),
    ("claude-sonnet-3.7", "anthropic", "claude-3-7-sonnet-latest"),
    # Bedrock
    ("anthropic.claude-sonnet-4-5-20250929-v1:0", "bedrock", "anthropic.claude-sonnet-4-5-20250929-v1:0"),
    ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "bedrock", "anthropic.claude-sonnet-4-5-20250929-v1:0"),
    ("eu.anthropic.claude-sonnet-4-5-20250929-v1:0", "bedrock", "anthropic.claude-sonnet-4-5-20250929-v1:0"),
    ("us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0", "bedrock", "anthropic.claude-sonnet-4-5-20250929-v1:0"),
    ("global.anthropic.claude-sonnet-4-5-20250929-v1:0", "bedrock", "global.anthropic.claude-sonnet-4-5-20250929-v1:0"),
    ("bedrock/converse/us.anthropic.claude-opus-5-5", "bedrock", "anthropic.claude-opus-5-5"),
    ("bedrock:amazon.nova-pro-v1:0", "bedrock", "amazon.nova-pro-v1:0"),
    ("bedrock:claude-opus-4-6", "bedrock", "anthropic.claude-opus-4-6-v1"),
    (
        "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-haiku-4-5-20251001-v1:0",
        "bedrock",
        "anthropic.claude-haiku-4-5-20251001-v1:0",
    ),
    # Google and Vertex
    ("models/gemini-2.5-pro", "google", "gemini-2.5-pro"),
    ("gemini/gemini-2.5-pro", "google", "gemini-2.5-pro"),
    ("google-gla:gemini-2.5-flash", "google", "gemini-2.5-flash"),
    ("publishers/google/models/gemini-2.5-flash", "vertex", "gemini-2.5-flash"),
    ("projects/p/locations/l/publishers/anthropic/models/claude-opus-5", "vertex", "claude-opus-5"),
    ("claude-sonnet-4-5@20250929", "vertex", "claude-sonnet-4-5@20250929"),
    ("vertex_ai/claude-sonnet-4-5@20250929", "vertex", "claude-sonnet-4-5@20250929"),
    ("claude-opus-4-7@default", "vertex", "claude-opus-4-7"),
    # Azure's deployments
    ("azure/gpt-4o", "azure", "gpt-4o"),
    ("azure/gpt-35-turbo", "azure", "gpt-3.5-turbo"),
    ("azure:my-gpt-4o-prod", "azure", "gpt-4o"),
    ("azure/gpt-4.1-mini-swedencentral", "azure", "gpt-4.1-mini"),
    ("azure/gpt-6-sol", "azure", "gpt-6-sol"),
    # OpenRouter
    ("anthropic/claude-sonnet-4.5", "anthropic", "claude-sonnet-4-5"),
    ("anthropic/claude-sonnet-4.5:beta", "openrouter", "anthropic/claude-sonnet-4.5"),
    ("openrouter/anthropic/claude-sonnet-4.5", "openrouter", "anthropic/claude-sonnet-4.5"),
    ("openrouter:openai/gpt-5", "openrouter", "openai/gpt-5"),
    ("meta-llama/llama-3.3-70b-instruct", "openrouter", "meta-llama/llama-3.3-70b-instruct"),
    ("meta-llama/llama-3.3-70b-instruct:nitro", "openrouter", "meta-llama/llama-3.3-70b-instruct"),
    ("mistralai/mistral-large-2407", "openrouter", "mistralai/mistral-large-2407"),
    # others
    ("groq/gpt-oss-120b", "groq", "openai/gpt-oss-120b"),
    ("llama-3.3-70b-versatile", "groq", "llama-3.3-70b-versatile"),
    ("x-ai/grok-4", "xai", "grok-4-0709"),
    ("ft:gpt-4o-mini-2024-07-18:acme::abc123", "openai", "ft:gpt-4o-mini"),
]


@pytest.mark.parametrize(("name", "vendor", "id"), SPELLINGS)
def test_spellings(name: str, vendor: str, id: str) -> None:
    model = find_model(name)
    assert (model.vendor, model.id, model.source) == (vendor, id, "catalogue")


def test_every_model_is_found_by_its_own_name() -> None:
    for model in list_models():
        for name in (
            f"{model.vendor}/{model.id}",
            f"{model.vendor}:{model.id}",
            f" {model.vendor.upper()}:{model.id.upper()} ",
        ):
            assert find_model(name) == model, name


@pytest.mark.parametrize(
    "name",
    [
        *("", " ", ":", "/", "@", "models/", "ft:", "ft::", "arn:", "openai/", "bedrock/", "global.anthropic."),
        *("gpt", "claude", "gemini", "llama", "my-model", "foo/bar", "foo:bar", "SmolLM2-135M", "2024-08-06", "latest"),
        # A version or a variant nobody has described is not the nearest that somebody has.
        *(
            "gpt-5.9",
            "gpt-7",
            "gpt-5-ultra",
            "gpt-4omni",
            "xgpt-4o",
            "claude-opus-4-9",
            "claude-sonnet-44",
            "gemini-9-pro",
        ),
        *("gpt-5.5-chat", "gpt-5-12", "claude-opus-5-12"),
        "route/" * 40 + "gpt-4o",  # longer than any name
    ],
)
def test_what_is_no_models_name_stays_unknown(name: str) -> None:
    model = find_model(name)
    assert (model.id, model.source) == (name, "default")
    assert (model.context_window, model.max_input, model.max_output) == (DEFAULT_WINDOW, DEFAULT_WINDOW, None)
    assert (model.prices, model.exact, model.cache) == (None, False, None)


@given(st.text(max_size=300))
def test_no_name_fails(name: str) -> None:
    model = find_model(name)
    assert 0 < model.max_input <= model.context_window


@given(st.from_regex(r"zz[a-z0-9._@:-]{0,40}(/zz[a-z0-9._@:-]{0,40})?", fullmatch=True))
def test_noise_stays_unknown(name: str) -> None:
    model = find_model(name)
    assert (model.id, model.source, model.context_window) == (name, "default", DEFAULT_WINDOW)


@given(
    st.sampled_from(list_models()),
    st.sampled_from(["", ":", "-", "/", "@", "models/", "ft:", ".", "-v1:0", "-20250101"]),
)
def test_pieces_of_real_names_never_fail(model: Model, glue: str) -> None:
    id = model.id
    for name in (glue + id, id + glue, id[: len(id) // 2] + glue + id[len(id) // 2 :], glue.join(id)):
        assert find_model(name).context_window > 0


def test_unknown_models_of_a_known_family_keep_what_the_family_tells() -> None:
    claude = find_model("anthropic:claude-opus-9")
    assert (claude.vendor, claude.encoding, claude.exact, claude.prior) == ("anthropic", "o200k_base", False, 1.55)
    gemini = find_model("gemini-9-pro")
    assert (gemini.vendor, gemini.encoding, gemini.exact) == ("google", "gemma4", False)


def test_an_open_model_by_its_bare_name_has_the_smallest_limits_and_no_price() -> None:
    served = [model for model in list_models() if model.id.rpartition("/")[2] == "deepseek-r1"]
    bare = find_model("deepseek-r1")
    assert len(served) > 1
    assert bare.max_input == min(model.max_input for model in served)
    assert bare.prices is None


def test_a_host_that_states_limits_comes_before_one_that_does_not() -> None:
    hosts: dict[str, list[Model]] = {}
    for model in list_models():
        if model.vendor in ("openrouter", "groq", "cerebras", "azure"):
            hosts.setdefault(model.id.lower().rpartition("/")[2], []).append(model)
    stated = {name for name, models in hosts.items() if any(model.source == "catalogue" for model in models)}
    assert any(model.source == "default" for name in stated for model in hosts[name])
    for name in stated:
        assert find_model(name).source == "catalogue", name


def test_a_vendor_that_is_not_known_to_serve_a_model_has_no_price_for_it() -> None:
    elsewhere, own = find_model("groq/gpt-5"), find_model("gpt-5")
    assert (elsewhere.vendor, elsewhere.max_input, elsewhere.prices) == ("groq", own.max_input, None)
    fine_tuned = find_model("ft:gpt-4.1-2025-04-14:acme::abc")
    assert (fine_tuned.context_window, fine_tuned.prices) == (find_model("gpt-4.1").context_window, None)
    free_no_more = find_model("openai/gpt-5:free")
    assert (free_no_more.id, free_no_more.prices) == ("openai/gpt-5", None)
    borrowed = find_model("us.openai.gpt-6.1-terra")
    assert (borrowed.vendor, borrowed.prices) == ("bedrock", None)
    assert borrowed.max_input == find_model("gpt-6.1-terra").max_input


def test_bedrock_routes_have_their_own_prices() -> None:
    home = find_model("us.anthropic.claude-sonnet-4-5-20250929-v1:0").prices
    worldwide = find_model("global.anthropic.claude-sonnet-4-5-20250929-v1:0").prices
    assert home is not None
    assert worldwide is not None
    assert home.input is not None
    assert worldwide.input is not None
    assert home.input > worldwide.input

"""`--chat`: what is said to a chat model is written by its own template, and who gets no answer is told why."""

import json
import shutil

import pytest

from models import causal
from program import assert_fails, ok, run
from test_real_models import fetched

TEMPLATE = ("{% for m in messages %}{{ m.role ~ ' : ' ~ m.content ~ ' . ' }}{% endfor %}"
            "{% if add_generation_prompt %}{{ 'it was' }}{% endif %}")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = causal(tmp_path_factory.mktemp("chat") / "model")
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": TEMPLATE}))
    return folder


def tokens(*arguments):
    return json.loads(ok("text", *arguments, "--view", "matrix", "--head", 0, "--json"))["axes"][0]["positions"]


def test_a_chat_is_the_text_that_the_template_writes(model):
    # Unknown words are <unk> on both sides.
    plain = tokens("-m", model, "user : the cat . it was")
    assert tokens("-m", model, "the cat", "--chat") == plain
    assert tokens("-m", model, '[{"role": "user", "content": "the cat"}]', "--chat") == plain


def test_a_system_message_and_an_answer_last(model):
    assert tokens("-m", model, "the cat", "--chat", "--system", "a dog") == tokens("-m", model, "system : a dog . user : the cat . it was")
    said = '[{"role": "user", "content": "the cat"}, {"role": "assistant", "content": "sat"}]'
    assert tokens("-m", model, said, "--chat") == tokens("-m", model, "user : the cat . assistant : sat .")


def test_what_a_chat_does_not_go_with(model, tmp_path):
    assert_fails(run("text", "-m", model, "the cat", "--system", "a dog"), 2, "--system", "--chat")
    assert_fails(run("text", "-m", model, "the cat", "--chat", "--pair", "a dog"), 2, "--chat", "--pair")
    assert_fails(run("text", "-m", model, '[{"role": "user"}]', "--chat"), 2, "content")
    plain = causal(tmp_path / "plain")
    assert_fails(run("text", "-m", plain, "the cat", "--chat"), 1, "--chat", "no chat template")
    (plain / "chat_template.jinja").write_text("\n{{ messages | shuffle }}")
    assert_fails(run("text", "-m", plain, "the cat", "--chat"), 1, "chat_template.jinja", "line 2", "shuffle")
    (plain / "chat_template.jinja").write_text("{{ raise_exception('only poems') }}")
    assert_fails(run("text", "-m", plain, "the cat", "--chat"), 2, "only poems")


def test_who_gets_nothing_is_told_and_a_chat_model_is_named(model, tmp_path):
    folder = shutil.copytree(model, tmp_path / "silent")
    written = json.loads(ok("text", "-m", folder, "the cat", "--generate", 1, "--json"))
    first = written["outputs"]["written_tokens"][0]
    vocabulary = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": vocabulary[first["label"].strip()]}))
    result = run("text", "-m", folder, "the cat", "--generate", 4)
    assert result.returncode == 0 and "wrote nothing: its first token" in result.stderr and "chat model" in result.stderr
    (folder / "tokenizer_config.json").unlink()
    result = run("text", "-m", folder, "the cat", "--generate", 4)
    assert "wrote nothing" in result.stderr and "chat model" not in result.stderr


def test_smollm2_is_asked_as_its_authors_ask_it():
    """The text is what transformers' apply_chat_template writes by the template in its .gguf file."""
    fetched("smollm2-135m-instruct")
    expected = ("<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
                "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n")
    chat = json.loads(ok("text", "What is the capital of France?", "--chat", "--generate", 8, "--json"))
    assert chat["axes"][0]["source"] == expected and chat["input"]["chat"] is True
    assert "Paris" in chat["outputs"]["written"]

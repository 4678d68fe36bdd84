"""Makes tests/data/translation/en-fr.json: what transformers' generate answers for the bundled model models/en-fr.

    pip install -r tools/fixture-requirements.txt sentencepiece
    python tools/make_translation_answers.py

200 sentences: the held-out ones of the model and then those of the alignment data. Each has the ids of greedy
search, the first 50 also those and the score of beam search with 4 beams (eager attention, float32). A sentence whose
best and second-best word differ by less than 1e-4 at some greedy step would be a matter of rounding; none may be.
"""

import json
import pathlib

import torch
import transformers

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODEL = ROOT / "models" / "en-fr"
COUNT = 200
LEAST_MARGIN = 1e-4


def sentences() -> list:
    held_out = [line.split("\t")[0] for line in (MODEL / "demo" / "heldout-50.tsv").read_text().splitlines()[1:]]
    pairs = (ROOT / "tests" / "data" / "alignment" / "enfr.src-tgt").read_text().splitlines()
    return held_out + [pair.split(" ||| ")[0] for pair in pairs[: COUNT - len(held_out)]]


def main() -> None:
    torch.set_num_threads(1)
    tokenizer = transformers.MarianTokenizer.from_pretrained(MODEL)
    model = transformers.MarianMTModel.from_pretrained(MODEL, attn_implementation="eager", dtype=torch.float32).eval()
    answers, narrowest = [], 1e9
    for index, text in enumerate(sentences()):
        inputs = tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            greedy = model.generate(**inputs, num_beams=1, do_sample=False, output_logits=True,
                                    return_dict_in_generate=True)
            margins = [(top[0] - top[1]).item() for top in (logits[0].topk(2).values for logits in greedy.logits)]
            narrowest = min(narrowest, *margins)
            answer = {"source": text, "ids": inputs.input_ids[0].tolist(), "greedy": greedy.sequences[0, 1:].tolist()}
            if index < 50:
                beams = model.generate(**inputs, num_beams=4, do_sample=False, output_scores=True,
                                       return_dict_in_generate=True)
                answer["beam"] = [i for i in beams.sequences[0, 1:].tolist() if i != model.config.pad_token_id]
                answer["score"] = round(beams.sequences_scores[0].item(), 6)
        answers.append(answer)
        if min(margins) < LEAST_MARGIN:
            raise SystemExit(f"{text!r}: two words are within {min(margins)}; leave this sentence out")
    path = ROOT / "tests" / "data" / "translation" / "en-fr.json"
    path.parent.mkdir(exist_ok=True)
    lines = ",\n".join(json.dumps(answer, ensure_ascii=False) for answer in answers)
    path.write_text(f"[\n{lines}\n]\n")
    print(f"{len(answers)} sentences, {path.stat().st_size / 1024:.0f} kB, narrowest margin {narrowest:.1e}")


if __name__ == "__main__":
    main()

"""Tiny random models with a real tokenizer, chat template and processor, built offline in a few seconds.

They have 0.1 to 0.25 million weights and show that the plumbing works and that a loss falls; they see nothing.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SPECIAL = [
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|vision_pad|>", "<|image_pad|>",
    "<|video_pad|>",
]  # fmt: skip
#: Added but not special, as in real Qwen: decoding keeps them even when special tokens are skipped.
PLAIN = ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>"]
CORPUS = [
    "system user assistant tool computer use click type key scroll wait left_click select and submit the page",
    '{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [123, 456]}}',
    "[18] checkbox 'MRW'\n[21] checkbox '628'\n[27] button 'Submit'\nclick(18)\nclick(27)",
] * 50
SPLIT = r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"""


def template(name: str) -> str:
    """A chat template as TRL ships it; TRL knows templates by their exact text."""
    import trl

    return (Path(trl.__file__).parent / "chat_templates" / f"{name}.jinja").read_text()


def tokenizer() -> Any:
    """A byte-level BPE of about 400 tokens with Qwen's special tokens."""
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
    from transformers import Qwen2Tokenizer

    made = Tokenizer(models.BPE())
    made.normalizer = normalizers.NFC()
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(
        CORPUS, trainers.BpeTrainer(vocab_size=512, initial_alphabet=alphabet, show_progress=False)
    )
    held = json.loads(made.to_str())["model"]
    vocab = {**held["vocab"], "<|endoftext|>": len(held["vocab"])}
    ready = Qwen2Tokenizer(
        vocab=vocab,
        merges=[tuple(m) for m in held["merges"]],
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        unk_token=None,
    )
    ready.add_tokens([AddedToken(s, special=True, normalized=False) for s in SPECIAL], special_tokens=True)
    ready.add_tokens([AddedToken(s, special=False, normalized=False) for s in PLAIN])
    return ready


def build(arch: str, out: Path, seed: int = 0) -> Path:
    """Write a model folder; arch is qwen2, qwen2_5_vl, qwen3_vl or smolvlm."""
    import torch
    import transformers as tf

    torch.manual_seed(seed)
    makers = {"qwen2": _qwen2, "qwen2_5_vl": _qwen_vl, "qwen3_vl": _qwen_vl, "smolvlm": _smolvlm}
    model, processor = makers[arch](arch, tokenizer())
    words = getattr(processor, "tokenizer", processor)
    model.generation_config = tf.GenerationConfig(
        eos_token_id=[words.eos_token_id, words.pad_token_id], pad_token_id=words.pad_token_id, do_sample=False
    )
    model.save_pretrained(out)
    processor.save_pretrained(out)
    return out


def _text(words: Any) -> dict[str, Any]:
    # A wider initialisation than usual: with 0.02 so small a model's answers are all alike and an adapter moves nothing.
    return {
        "vocab_size": len(words), "initializer_range": 0.1, "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "max_position_embeddings": 4096, "bos_token_id": None, "eos_token_id": words.eos_token_id,
        "pad_token_id": words.pad_token_id,
    }  # fmt: skip


def _qwen2(_: str, words: Any) -> tuple[Any, Any]:
    import transformers as tf

    words.chat_template = template("qwen2_5")
    return tf.Qwen2ForCausalLM(tf.Qwen2Config(tie_word_embeddings=True, **_text(words))), words


def _qwen_vl(arch: str, words: Any) -> tuple[Any, Any]:
    import transformers as tf

    marks = {
        "image": "<|image_pad|>",
        "video": "<|video_pad|>",
        "vision_start": "<|vision_start|>",
        "vision_end": "<|vision_end|>",
    }
    ids = {f"{name}_token_id": words.convert_tokens_to_ids(mark) for name, mark in marks.items()}
    text = _text(words)
    new = arch == "qwen3_vl"
    # The sections share half of a head's 16 dimensions among time, height and width.
    text["rope_parameters"] = {"rope_type": "default", "rope_theta": 1e6, "mrope_section": [2, 3, 3]}
    vision: dict[str, Any] = {
        "depth": 2,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_heads": 2,
        "out_hidden_size": 64,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
    }
    patch = 16 if new else 14
    if new:
        text |= {"head_dim": 16, "rope_parameters": {**text["rope_parameters"], "mrope_interleaved": True}}
        vision |= {"patch_size": 16, "num_position_embeddings": 256, "deepstack_visual_indexes": [0, 1]}
    else:
        vision |= {"patch_size": 14, "window_size": 112, "fullatt_block_indexes": [1]}
    config_class = tf.Qwen3VLConfig if new else tf.Qwen2_5_VLConfig
    model_class = tf.Qwen3VLForConditionalGeneration if new else tf.Qwen2_5_VLForConditionalGeneration
    config = config_class(text_config=text, vision_config=vision, tie_word_embeddings=True, **ids)
    side = 2 * patch
    sizes = {
        "patch_size": patch,
        "merge_size": 2,
        "temporal_patch_size": 2,
        "size": {"shortest_edge": 4 * side**2, "longest_edge": 64 * side**2},
    }
    video_class = tf.Qwen3VLVideoProcessor if new else tf.Qwen2VLVideoProcessor
    processor_class = tf.Qwen3VLProcessor if new else tf.Qwen2_5_VLProcessor
    processor = processor_class(
        image_processor=tf.Qwen2VLImageProcessor(**sizes), video_processor=video_class(**sizes), tokenizer=words,
        chat_template=template(arch),
    )  # fmt: skip
    return model_class(config), processor


def _smolvlm(_: str, words: Any) -> tuple[Any, Any]:
    import transformers as tf
    from tokenizers import AddedToken

    marks = ["<fake_token_around_image>", "<image>", "<global-img>", "<end_of_utterance>"]
    marks += [f"<row_{row}_col_{column}>" for row in range(1, 7) for column in range(1, 7)]
    words.add_tokens([AddedToken(mark, special=True, normalized=False) for mark in marks], special_tokens=True)
    words.eos_token = "<end_of_utterance>"
    text = {**_text(words), "model_type": "llama", "bos_token_id": words.convert_tokens_to_ids("<|im_start|>")}
    vision = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "image_size": 64,
        "patch_size": 8,
    }
    config = tf.SmolVLMConfig(
        text_config=text, vision_config=vision, scale_factor=2, image_token_id=words.convert_tokens_to_ids("<image>"),
        tie_word_embeddings=True, pad_token_id=words.pad_token_id,
    )  # fmt: skip
    edge, cap = {"longest_edge": 128}, {"longest_edge": 64}
    video = tf.SmolVLMVideoProcessor(
        size=cap, max_image_size=cap, num_frames=2, fps=1, video_sampling={"max_frames": 2, "fps": 1, "video_size": cap}
    )
    processor = tf.SmolVLMProcessor(
        image_processor=tf.SmolVLMImageProcessor(size=edge, max_image_size=cap, do_image_splitting=True), video_processor=video,
        tokenizer=words, image_seq_len=(64 // 8) ** 2 // 4, chat_template=template("smolvlm"),
    )  # fmt: skip
    return tf.SmolVLMForConditionalGeneration(config), processor

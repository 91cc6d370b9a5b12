"""The forward of a Wan transformer, from the parts of diffusers' model: the same numbers with a third of the kernels.

What a call needs once is made once: keys and values of the text. What a step needs once is made once for all layers: modulation, one
row a latent where latents have noise levels of their own. Elementwise parts are the operators of `engine.models.fused`.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from engine.models import fused
from engine.models.attention import (
    CallHolder,
    KeyValue,
    SequenceParallel,
    WindowCall,
    attend_window,
    camera_attention,
    window_attention,
)
from engine.models.attention_kernels import attend
from engine.models.rays import BLOCK_LAYERS, MODEL_LAYERS, RayEmbedding, RayInjector

ONE_MORE = (1, 4)
"""Of a block's six rows of modulation (shift, scale, gate, and the same for the feed-forward), the scales: x * (1 + scale)."""


class WanBlock(nn.Module):
    """A block of diffusers' `WanTransformer3DModel` or `AnyFlowFARTransformer3DModel`, with attention over a call's prefix."""

    def __init__(self, block: Any, layer: int, holder: CallHolder) -> None:
        super().__init__()
        self.layer, self.holder = layer, holder
        self.norm1, self.norm2, self.norm3 = block.norm1, block.norm2, block.norm3
        self.attn1, self.attn2, self.ffn = block.attn1, block.attn2, block.ffn
        self.scale_shift_table = block.scale_shift_table
        self.ray_injector = RayInjector(block) if hasattr(block, BLOCK_LAYERS[0]) else None

    def forward(
        self, hidden: Tensor, modulation: Tensor, context: Tensor | None, rays: tuple[Tensor, list[int]] | None = None
    ) -> Tensor:
        """hidden: (1, latents * tokens, width). modulation: (latents or 1 or all tokens, 6, width) in float32, scales with 1 added.
        context: the text, where the call has no keys and values of it yet. rays: of `RayEmbedding`, and which of them each latent has."""
        shift, scale, gate, ffn_shift, ffn_scale, ffn_gate = modulation.unbind(1)
        x = fused.modulated_norm(hidden, scale, shift, self.norm1.eps)
        attended = self._self_attention(x)
        if isinstance(self.norm2, nn.LayerNorm):
            weight, bias = self.norm2.weight.float()[None], self.norm2.bias.float()[None]
            if self.ray_injector is not None and rays is not None:
                hidden = self.ray_injector(fused.gated_add(hidden, attended, gate), *rays)
                x = fused.modulated_norm(hidden, weight, bias, self.norm2.eps)
            else:
                hidden, x = fused.add_norm(hidden, attended, gate, weight, bias, self.norm2.eps)
        else:
            x = hidden = fused.gated_add(hidden, attended, gate)
        del attended
        told = self._cross_attention(x, context)
        hidden, x = fused.add_norm(hidden, told, None, ffn_scale, ffn_shift, self.norm3.eps)
        del told
        activation, _, out = self.ffn.net  # the one between them is dropout
        return fused.gated_add(hidden, out(activation(x)), ffn_gate)

    def _self_attention(self, x: Tensor) -> Tensor:
        call, parallel, attn = self.holder.call, self.holder.parallel, self.attn1
        assert call is not None
        query, key, value = attn.to_q(x), attn.to_k(x), attn.to_v(x).unflatten(2, (attn.heads, -1))
        project = getattr(attn, "prope_o", None) if call.cameras is not None else None
        if parallel is None and project is None and (call.capture_rotated or not call.capture_kv):
            turn = call.rotary
            query = fused.rms_rotate(query, attn.norm_q.weight, _eps(attn.norm_q), turn.cos, turn.sin, attn.heads)
            key = fused.rms_rotate(key, attn.norm_k.weight, _eps(attn.norm_k), turn.cos, turn.sin, attn.heads)
            if call.capture_kv:
                call.captured_kv.append((key, value))
            out = attend_window(call, self.layer, query, key, value, None)
            return attn.to_out[0](out.flatten(2))
        query, key = (
            fused.scaled_rms_norm(y, norm.weight, _eps(norm)).unflatten(2, (attn.heads, -1))
            for y, norm in ((query, attn.norm_q), (key, attn.norm_k))
        )
        if parallel is not None:
            query, key, value = (parallel.to_heads(y) for y in (query, key, value))
        out = attn.to_out[0](window_attention(call, self.layer, query, key, value, parallel).flatten(2))
        if project is not None:
            out = out + project(camera_attention(call, self.layer, query, key, value, parallel).flatten(2))
        return out

    def _cross_attention(self, x: Tensor, context: Tensor | None) -> Tensor:
        call, attn = self.holder.call, self.attn2
        assert call is not None
        query = fused.scaled_rms_norm(attn.to_q(x), attn.norm_q.weight, _eps(attn.norm_q))
        key, value = self._text(call, context)
        mask, parallel = call.context_mask, self.holder.parallel
        if mask is not None and parallel is not None:
            mask = parallel.shard_rows(mask)
        return attn.to_out[0](attend(query.unflatten(2, (attn.heads, -1)), key, value, mask).flatten(2))

    def _text(self, call: WindowCall, context: Tensor | None) -> KeyValue:
        """Keys and values of the text, of the call or made now."""
        made = call.context_kv.get(self.layer)
        if made is None:
            assert context is not None, "a call without keys and values of its text is given the text"
            attn = self.attn2
            key = fused.scaled_rms_norm(attn.to_k(context), attn.norm_k.weight, _eps(attn.norm_k))
            made = key.unflatten(2, (attn.heads, -1)), attn.to_v(context).unflatten(2, (attn.heads, -1))
            call.context_kv[self.layer] = made
        return made


def _eps(norm: nn.Module) -> float:
    eps: float | None = norm.eps  # type: ignore[assignment]
    return torch.finfo(torch.float32).eps if eps is None else eps


class WanNetwork(nn.Module):
    """The whole transformer. Its modules are those of the model that it is made of, which is used up."""

    tables: Tensor
    """(layers, 6, width) in float32: the modulation of all blocks, scales with 1 added."""

    def __init__(self, model: Any, holder: CallHolder) -> None:
        super().__init__()
        self.config, self.holder = model.config, holder
        self.patch = tuple(model.config.patch_size)
        self.patch_embedding: Any = model.patch_embedding
        self.far_patch_embedding: Any = getattr(model, "far_patch_embedding", None)
        self.act_control_adapter: Any = getattr(model, "act_control_adapter", None)
        self.ray_embedding = RayEmbedding(model) if hasattr(model, MODEL_LAYERS[0]) else None
        self.condition_embedder = model.condition_embedder
        self.blocks = nn.ModuleList(WanBlock(b, i, holder) for i, b in enumerate(model.blocks))
        self.norm_out, self.proj_out = model.norm_out, model.proj_out
        self.scale_shift_table = model.scale_shift_table
        tables = torch.cat([b.scale_shift_table.detach().float() for b in model.blocks])
        for row in ONE_MORE:
            tables[:, row] += 1
        self.register_buffer("tables", tables, persistent=False)

    def shard(self, parallel: SequenceParallel) -> None:
        """Runs the blocks on shards of every latent's tokens. Every rank must then run the same forwards."""
        self.holder.parallel = parallel

    def forward(
        self, z: Tensor, levels: Tensor, after: Tensor, text: Tensor, far: bool = False, keys_only: bool = False
    ) -> Tensor:
        """The velocity, of z's latents and height and width, in float32.

        z: (1, channels, latents, h, w). levels: (latents or 1,), the noise level that each latent is said to have, as the model counts
        it; after: (1,), that the step leads to, for models that are told. text: (1, tokens, dim). far: z is taken in large patches;
        keys_only: there is no output, and what is returned is empty.
        """
        call, parallel = self.holder.call, self.holder.parallel
        assert call is not None
        embed = self.far_patch_embedding if far else self.patch_embedding
        patches = embed(z)
        if call.buttons is not None:
            patches = patches + self.act_control_adapter(call.buttons, *patches.shape[3:])
        hidden = patches.flatten(2).transpose(1, 2).contiguous()
        if call.registers:
            levels = torch.cat((levels.new_zeros(1), levels.expand(call.latents)))
        time, modulation = self._times(levels, after, text)
        rows = self.tables[:, None] + modulation.float().unflatten(1, (6, -1))[None]
        whole = len(call.context_kv) == len(self.blocks)
        context = None if whole else self.condition_embedder.text_embedder(text)
        of_token: Tensor | None = None
        if call.registers:
            assert parallel is None, "registers are not spread over ranks"
            hidden = torch.cat((hidden.new_zeros(1, call.registers, hidden.shape[2]), hidden), 1)
            of_token = torch.arange(1, call.latents + 1, device=hidden.device).repeat_interleave(call.latent_tokens)
            of_token, time = torch.cat((of_token.new_zeros(call.registers), of_token)), time[1:]
        if parallel is not None:
            parallel.measure(call.latent_tokens)
            hidden = parallel.shard(hidden)
        rays = self._told(call)
        for block, of_block in zip(self.blocks, rows.unbind(0), strict=True):
            hidden = block(hidden, of_block if of_token is None else of_block[of_token], context, rays)
        if keys_only:
            return hidden.new_empty(0)
        hidden = hidden[:, call.registers :]
        if parallel is not None:
            hidden = parallel.gather(hidden)
        shift, scale = (self.scale_shift_table.float() + time.float()[:, None]).unbind(1)
        hidden = fused.modulated_norm(hidden, 1 + scale, shift, self.norm_out.eps)
        _, _, frames, height, width = z.shape
        a, b, c = self.patch
        out = self.proj_out(hidden).unflatten(1, (frames // a, height // b, width // c)).unflatten(-1, (a, b, c, -1))
        return out.permute(0, 7, 1, 4, 2, 5, 3, 6).reshape(1, -1, frames, height, width).float()

    def _told(self, call: WindowCall) -> tuple[Tensor, list[int]] | None:
        """What the blocks are told of the call's rays, under ranks of the rank's own tokens."""
        if self.ray_embedding is None or call.rays is None:
            return None
        told, parallel = self.ray_embedding(call.rays[0]), self.holder.parallel
        return told if parallel is None else parallel.shard(told), call.rays[1]

    def _times(self, levels: Tensor, after: Tensor, text: Tensor) -> tuple[Tensor, Tensor]:
        """(latents or 1, width) and (latents or 1, 6 * width): what the noise levels do to the output and to the blocks."""
        embedder = self.condition_embedder
        if hasattr(embedder, "delta_embedder"):
            other = after.expand_as(levels)
            delta = other if embedder.deltatime_type == "r" else levels - other
            time, modulation = embedder.forward_timestep(levels[None], delta[None], text, 1)
            return time[0], modulation[0]
        time = embedder.timesteps_proj(levels).to(embedder.time_embedder.linear_1.weight.dtype)
        time = embedder.time_embedder(time).type_as(text)
        return time, embedder.time_proj(embedder.act_fn(time))

"""The table of services that speak OpenAI's chat completions, all of it constants: reading it must cost nothing.

Addresses and variables are the defaults, and can be overridden. A service is listed if it has API keys of its own, not
if it only admits another vendor's client.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

Row: TypeAlias = tuple[str, str, str, str]
"""Name and aliases, base URL, variables of the key in order, vendor; see `KnownService`."""

VENDORS: tuple[Row, ...] = (
    ("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "OpenRouter"),
    ("xai grok", "https://api.x.ai/v1", "XAI_API_KEY", "xAI"),
    ("deepseek", "https://api.deepseek.com", "DEEPSEEK_API_KEY", "DeepSeek"),
    ("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", "Mistral"),
    ("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", "Groq"),
    ("cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY", "Cerebras"),
    ("together together-ai", "https://api.together.xyz/v1", "TOGETHER_API_KEY", "Together"),
    ("fireworks fireworks-ai", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY", "Fireworks"),
    ("perplexity", "https://api.perplexity.ai", "PERPLEXITY_API_KEY PPLX_API_KEY", "Perplexity"),
    ("cohere", "https://api.cohere.ai/compatibility/v1", "COHERE_API_KEY CO_API_KEY", "Cohere"),
    ("nvidia nvidia-nim nim", "https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY", "NVIDIA"),
    ("huggingface hf hugging-face", "https://router.huggingface.co/v1", "HF_TOKEN HUGGINGFACE_API_KEY", "Hugging Face"),
    ("deepinfra", "https://api.deepinfra.com/v1/openai", "DEEPINFRA_API_KEY DEEPINFRA_TOKEN", "DeepInfra"),
    ("sambanova", "https://api.sambanova.ai/v1", "SAMBANOVA_API_KEY", "SambaNova"),
    ("hyperbolic", "https://api.hyperbolic.xyz/v1", "HYPERBOLIC_API_KEY", "Hyperbolic"),
    ("novita", "https://api.novita.ai/openai/v1", "NOVITA_API_KEY", "Novita"),
    ("venice", "https://api.venice.ai/api/v1", "VENICE_API_KEY", "Venice"),
    ("ai21", "https://api.ai21.com/studio/v1", "AI21_API_KEY", "AI21"),
    ("reka", "https://api.reka.ai/v1", "REKA_API_KEY", "Reka"),
    ("upstage", "https://api.upstage.ai/v1", "UPSTAGE_API_KEY", "Upstage"),
    ("arcee", "https://api.arcee.ai/api/v1", "ARCEE_API_KEY ARCEEAI_API_KEY", "Arcee"),
    ("inception", "https://api.inceptionlabs.ai/v1", "INCEPTION_API_KEY", "Inception"),
    ("morph", "https://api.morphllm.com/v1", "MORPH_API_KEY", "Morph"),
    ("baseten", "https://inference.baseten.co/v1", "BASETEN_API_KEY", "Baseten"),
    ("nebius", "https://api.tokenfactory.nebius.com/v1", "NEBIUS_API_KEY", "Nebius"),
    ("nscale", "https://inference.api.nscale.com/v1", "NSCALE_API_KEY NSCALE_SERVICE_TOKEN", "Nscale"),
    ("friendli", "https://api.friendli.ai/serverless/v1", "FRIENDLI_API_KEY FRIENDLI_TOKEN", "Friendli"),
    ("featherless", "https://api.featherless.ai/v1", "FEATHERLESS_API_KEY", "Featherless"),
    ("lambda lambda-ai", "https://api.lambda.ai/v1", "LAMBDA_API_KEY", "Lambda"),
    ("telnyx", "https://api.telnyx.com/v2/ai", "TELNYX_API_KEY", "Telnyx"),
    ("ovh ovhcloud", "https://oai.endpoints.kepler.ai.cloud.ovh.net/v1", "OVH_AI_ENDPOINTS_ACCESS_TOKEN", "OVHcloud"),
    ("scaleway", "https://api.scaleway.ai/v1", "SCW_SECRET_KEY", "Scaleway"),
    ("nearai near", "https://cloud-api.near.ai/v1", "NEARAI_API_KEY", "NEAR AI"),
    ("synthetic", "https://api.synthetic.new/openai/v1", "SYNTHETIC_API_KEY", "Synthetic"),
    ("chutes", "https://llm.chutes.ai/v1", "CHUTES_API_KEY", "Chutes"),
)
"""Vendors mostly in America and Europe."""

ASIA: tuple[Row, ...] = (
    ("moonshot kimi moonshot-intl", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY KIMI_API_KEY", "Moonshot"),
    ("moonshot-cn kimi-cn", "https://api.moonshot.cn/v1", "MOONSHOT_CN_API_KEY", "Moonshot"),
    ("kimi-code", "https://api.kimi.com/coding/v1", "KIMI_CODE_API_KEY", "Moonshot"),
    ("zai z.ai", "https://api.z.ai/api/paas/v4", "ZAI_API_KEY", "Zhipu"),
    ("zai-coding", "https://api.z.ai/api/coding/paas/v4", "ZAI_CODING_API_KEY", "Zhipu"),
    (
        "glm zhipu bigmodel",
        "https://open.bigmodel.cn/api/paas/v4",
        "GLM_API_KEY ZHIPUAI_API_KEY",
        "Zhipu",
    ),
    ("glm-coding", "https://open.bigmodel.cn/api/coding/paas/v4", "GLM_CODING_API_KEY", "Zhipu"),
    (
        "qwen dashscope",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        "DASHSCOPE_API_KEY",
        "Alibaba",
    ),
    (
        "qwen-cn bailian",
        "https://dashscope.aliyuncs.com/compatible-mode/v1",
        "BAILIAN_API_KEY",
        "Alibaba",
    ),
    ("qwen-us", "https://dashscope-us.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_US_API_KEY", "Alibaba"),
    ("minimax minimax-intl", "https://api.minimax.io/v1", "MINIMAX_API_KEY", "MiniMax"),
    ("minimax-cn", "https://api.minimaxi.com/v1", "MINIMAX_CN_API_KEY", "MiniMax"),
    (
        "doubao ark",
        "https://ark.cn-beijing.volces.com/api/v3",
        "ARK_API_KEY VOLCENGINE_API_KEY DOUBAO_API_KEY",
        "Volcengine",
    ),
    ("qianfan baidu ernie", "https://qianfan.baidubce.com/v2", "QIANFAN_API_KEY", "Baidu"),
    ("hunyuan tencent", "https://api.hunyuan.cloud.tencent.com/v1", "HUNYUAN_API_KEY", "Tencent"),
    ("baichuan", "https://api.baichuan-ai.com/v1", "BAICHUAN_API_KEY", "Baichuan"),
    ("yi lingyiwanwu 01ai", "https://api.lingyiwanwu.com/v1", "YI_API_KEY LINGYIWANWU_API_KEY", "01.AI"),
    ("stepfun step", "https://api.stepfun.ai/v1", "STEPFUN_API_KEY STEP_API_KEY", "StepFun"),
    ("stepfun-cn", "https://api.stepfun.com/v1", "STEPFUN_CN_API_KEY", "StepFun"),
    ("siliconflow", "https://api.siliconflow.com/v1", "SILICONFLOW_API_KEY", "SiliconFlow"),
    ("siliconflow-cn", "https://api.siliconflow.cn/v1", "SILICONFLOW_CN_API_KEY", "SiliconFlow"),
    ("modelscope", "https://api-inference.modelscope.cn/v1", "MODELSCOPE_API_KEY", "ModelScope"),
    ("mimo xiaomi", "https://api.xiaomimimo.com/v1", "MIMO_API_KEY XIAOMI_API_KEY", "Xiaomi"),
    ("atlascloud", "https://api.atlascloud.ai/v1", "ATLASCLOUD_API_KEY", "Atlas Cloud"),
)
"""Vendors in China, with the address for that country and the international one."""

GATEWAYS: tuple[Row, ...] = (
    ("vercel ai-gateway", "https://ai-gateway.vercel.sh/v1", "AI_GATEWAY_API_KEY VERCEL_API_KEY", "Vercel"),
    ("cloudflare", "", "CLOUDFLARE_API_KEY CLOUDFLARE_API_TOKEN", "Cloudflare"),
    ("opencode zen opencode-zen", "https://opencode.ai/zen/v1", "OPENCODE_API_KEY OPENCODE_ZEN_API_KEY", "OpenCode"),
    ("opencode-go", "https://opencode.ai/zen/go/v1", "OPENCODE_GO_API_KEY", "OpenCode"),
    ("kilo kilocode", "https://api.kilo.ai/api/gateway", "KILO_API_KEY KILOCODE_API_KEY", "Kilo"),
    ("aihubmix", "https://aihubmix.com/v1", "AIHUBMIX_API_KEY", "AiHubMix"),
    ("requesty", "https://router.requesty.ai/v1", "REQUESTY_API_KEY", "Requesty"),
    ("astrai", "https://as-trai.com/v1", "ASTRAI_API_KEY", "Astrai"),
    ("avian", "https://api.avian.io/v1", "AVIAN_API_KEY", "Avian"),
    ("deepmyst", "https://api.deepmyst.com/v1", "DEEPMYST_API_KEY", "DeepMyst"),
    ("manifest", "https://app.manifest.build/v1", "MANIFEST_API_KEY", "Manifest"),
    ("poe", "https://api.poe.com/v1", "POE_API_KEY", "Poe"),
    ("ollama-cloud", "https://ollama.com/v1", "OLLAMA_API_KEY", "Ollama"),
)
"""Services with one key for the models of many vendors."""

LOCAL: tuple[Row, ...] = (
    ("ollama", "http://127.0.0.1:11434", "", ""),
    ("lmstudio lm-studio", "http://127.0.0.1:1234/v1", "LMSTUDIO_API_KEY LM_API_TOKEN", ""),
    ("llamacpp llama.cpp llama-cpp", "http://127.0.0.1:8080/v1", "LLAMACPP_API_KEY", ""),
    ("vllm", "http://127.0.0.1:8000/v1", "VLLM_API_KEY", ""),
    ("sglang", "http://127.0.0.1:30000/v1", "SGLANG_API_KEY", ""),
    ("litellm", "http://127.0.0.1:4000/v1", "LITELLM_API_KEY LITELLM_MASTER_KEY", ""),
    ("osaurus", "http://127.0.0.1:1337/v1", "", ""),
    ("jan atomic-chat", "http://127.0.0.1:1337/v1", "", ""),
    ("docker-models model-runner", "http://127.0.0.1:12434/engines/v1", "", ""),
    ("koboldcpp", "http://127.0.0.1:5001/v1", "", ""),
    ("gpt4all", "http://127.0.0.1:4891/v1", "", ""),
    ("textgen text-generation-webui oobabooga", "http://127.0.0.1:5000/v1", "", ""),
)
"""Model servers on this machine, at their default ports; of those that share one, the first is assumed.

Their variables are never those of a service elsewhere (`LLAMA_API_KEY` is also the key of Meta's): anything may listen
at a port.
"""

ROLES: Mapping[str, str] = {
    "openrouter": "anthropic/claude-sonnet=anthropic/claude-sonnet-5.5 openai/gpt,openai/gpt-sol=openai/gpt-6.1-sol "
    "google/gemini-flash=google/gemini-3.8-flash",
    "xai": "grok=grok-4.7",
    "deepseek": "small:deepseek-flash=deepseek-flash deepseek-pro=deepseek-v4-pro",
    "mistral": "mistral-medium=mistral-medium-latest mistral-large=mistral-large-latest codestral=codestral-latest",
    "groq": "openai/gpt-oss-120b=openai/gpt-oss-120b",
    "cerebras": "gpt-oss-120b=gpt-oss-120b",
    "together": "openai/gpt-oss-120b=openai/gpt-oss-120b",
    "fireworks": "accounts/fireworks/models/gpt-oss-120b=accounts/fireworks/models/gpt-oss-120b",
    "perplexity": "sonar-pro=sonar-pro sonar=sonar",
    "cohere": "command-a=command-a-03-2025",
    "nvidia": "openai/gpt-oss-120b=openai/gpt-oss-120b",
    "huggingface": "openai/gpt-oss-120b=openai/gpt-oss-120b",
    "deepinfra": "openai/gpt-oss-120b=openai/gpt-oss-120b",
    "moonshot": "kimi-k=kimi-k3",
    "moonshot-cn": "kimi-k=kimi-k3",
    "kimi-code": "kimi-for-coding=kimi-for-coding",
    "zai": "glm=glm-5.3 small:glm-flash,glm-air=glm-5.3-flash",
    "zai-coding": "glm=glm-5.3 small:glm-flash,glm-air=glm-5.3-flash",
    "glm": "glm=glm-5.3 small:glm-flash,glm-air=glm-5.3-flash",
    "glm-coding": "glm=glm-5.3 small:glm-flash,glm-air=glm-5.3-flash",
    "qwen": "qwen-coder-plus=qwen3-coder-plus qwen-max=qwen3-max",
    "qwen-cn": "qwen-coder-plus=qwen3-coder-plus qwen-max=qwen3-max",
    "minimax": "minimax-m=MiniMax-M3",
    "minimax-cn": "minimax-m=MiniMax-M3",
    "vercel": "anthropic/claude-sonnet=anthropic/claude-sonnet-5.5 openai/gpt,openai/gpt-sol=openai/gpt-6.1-sol",
    "ollama-cloud": "gpt-oss:120b=gpt-oss:120b qwen-coder:480b=qwen3-coder:480b",
}
"""Models to offer, best first: the newest of a family (or of several), and a name while no list is known.

The name after `=` is a last resort, used only until a list or published facts have been read. `small:` marks one that
does simple work in the place of the others.
"""

SMALL: Final = "small:"

ADDRESS_VARIABLES: Mapping[str, str] = {
    "openrouter": "OPENROUTER_BASE_URL",
    "deepseek": "DEEPSEEK_BASE_URL",
    "cloudflare": "CLOUDFLARE_BASE_URL",
    "ollama": "OLLAMA_HOST",
}
"""The vendors' usual variables for another address, if they mean the same address as we do."""

_ZHIPU: Mapping[str, str | bool] = {
    "reasoning": "reasoning_content",
    "effort": "thinking",
    "tool_stream": True,
    "user_first": True,
}

DIFFERENCES: Mapping[str, Mapping[str, str | bool]] = {
    "openrouter": {"reasoning": "reasoning", "effort": "reasoning", "cache_marks": True},
    "vercel": {"cache_marks": True},
    "litellm": {"cache_marks": True},
    "deepseek": {"reasoning": "reasoning_content", "effort": "thinking_effort"},
    "mistral": {"stream_usage": False},
    "groq": {"reasoning": "none"},
    "perplexity": {"models_path": "", "tools": False, "stream_usage": False, "user_first": True},
    "cohere": {"models_path": "", "stream_usage": False},
    "ai21": {"models_path": ""},
    "upstage": {"models_path": ""},
    "moonshot": {"reasoning": "reasoning_content", "effort": "thinking"},
    "moonshot-cn": {"reasoning": "reasoning_content", "effort": "thinking"},
    "kimi-code": {"reasoning": "reasoning_content", "effort": "thinking"},
    "zai": _ZHIPU,
    "zai-coding": _ZHIPU,
    "glm": {"auth": "zhipu-jwt", **_ZHIPU},
    "glm-coding": {"auth": "zhipu-jwt", **_ZHIPU},
    "qwen": {"effort": "enable_thinking"},
    "qwen-cn": {"effort": "enable_thinking"},
    "qwen-us": {"effort": "enable_thinking"},
    "minimax": {"models_path": "", "max_tokens": "max_completion_tokens"},
    "minimax-cn": {"models_path": "", "max_tokens": "max_completion_tokens"},
    "baichuan": {"models_path": ""},
    "mimo": {"reasoning": "reasoning_content"},
    "cloudflare": {"models_path": ""},
}
"""Fields of `Quirks`: the differences of services from their wire family."""

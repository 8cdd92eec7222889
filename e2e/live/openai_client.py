"""The official Python client against an Edge: prints one line a check, exits 1 at the first that fails."""

import sys

import openai

base_url, api_key = sys.argv[1:3]
client = openai.OpenAI(base_url=base_url, api_key=api_key, max_retries=0)


def play(script: str) -> list:
    return [{"role": "user", "content": f"<mock>{script}</mock>"}]


def check(name: str, holds: bool, seen: object) -> None:
    if not holds:
        sys.exit(f"not {name}: {seen!r}")
    print(f"ok {name}", flush=True)


models = [model.id for model in client.models.list()]
check("models", "echo" in models, models)

answer = client.chat.completions.create(model="echo", messages=[{"role": "user", "content": "hello you"}])
check("chat", answer.choices[0].message.content == "hello you", answer)
check("usage", answer.usage is not None and answer.usage.total_tokens == 4, answer.usage)

with client.chat.completions.stream(model="echo", messages=play('{"text":"one two three","pace_ms":2}')) as stream:
    whole = stream.get_final_completion()
check("stream", whole.choices[0].message.content == "one two three", whole)

tools = [{"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {}}}}]
script = '{"tool_calls":[{"name":"add","arguments":{"x":"ü"},"pieces":4},{"name":"add","arguments":{"x":2}}]}'
with client.chat.completions.stream(model="echo", messages=play(script), tools=tools) as stream:
    calls = stream.get_final_completion().choices[0].message.tool_calls or []
check("tools", [call.function.arguments for call in calls] == ['{"x":"ü"}', '{"x":2}'], calls)

text = client.completions.create(model="echo", prompt="one two", max_tokens=10)
check("completion", text.choices[0].text == "one two", text)
pieces = [chunk.choices[0].text for chunk in client.completions.create(model="echo", prompt="one two", stream=True)]
check("completion stream", "".join(pieces) == "one two", pieces)

packed = client.embeddings.create(model="echo", input=["red", "green"])
plain = client.embeddings.create(model="echo", input=["red", "green"], encoding_format="float")
same = all(abs(a - b) < 1e-6 for a, b in zip(packed.data[0].embedding, plain.data[0].embedding, strict=True))
check("embeddings, base64 and float", same and packed.data[1].index == 1, packed)
short = client.embeddings.create(model="echo", input=[[1, 2, 3]], dimensions=8)
check("embeddings of tokens, with dimensions", len(short.data[0].embedding) == 8, short)

try:
    for _ in client.chat.completions.create(
        model="echo", messages=play('{"text":"one two three","cut":{"at":2}}'), stream=True
    ):
        pass
    check("a cut stream raises", False, "it ended")
except openai.APIError as error:
    check("a cut stream raises", True, error)

try:
    client.chat.completions.create(model="nobody", messages=play("{}"))
    check("unknown model", False, "it answered")
except openai.NotFoundError as error:
    check("unknown model", error.code == "model_not_found", error.code)

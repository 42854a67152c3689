// node clients.mjs CLIENT URL <MESSAGES: ask plainly, as a stream and with a tool; print what the client made of it.
import { readFileSync } from "node:fs";
import Anthropic from "@anthropic-ai/sdk";
import { createOpenAI } from "@ai-sdk/openai";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";

const [, , name, url] = process.argv;
const messages = JSON.parse(readFileSync(0, "utf8"));
const apiKey = "sk-test-1";
const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const rain = (city) => `rain in ${city}`;

async function openaiChat() {
  const client = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
  const ask = (more) => client.chat.completions.create({ model: "gpt-4o", messages, ...more });
  const plain = (await ask()).choices[0].message.content;
  let streamed = "";
  for await (const chunk of await ask({ stream: true })) streamed += chunk.choices[0]?.delta.content ?? "";
  const tools = [{ type: "function", function: { name: "weather", parameters: schema } }];
  const said = (await ask({ tools })).choices[0].message;
  const content = rain(JSON.parse(said.tool_calls[0].function.arguments).city);
  const result = { role: "tool", tool_call_id: said.tool_calls[0].id, content };
  const answered = (await ask({ tools, messages: [...messages, said, result] })).choices[0].message.content;
  return { plain, streamed, answered };
}

async function openaiResponses() {
  const client = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
  const ask = (more) => client.responses.create({ model: "gpt-4o", input: messages, store: false, ...more });
  const plain = (await ask()).output_text;
  let streamed = "";
  for await (const event of await ask({ stream: true })) {
    if (event.type === "response.output_text.delta") streamed += event.delta;
  }
  const tools = [{ type: "function", name: "weather", parameters: schema, strict: false }];
  const [call] = (await ask({ tools })).output;
  const output = rain(JSON.parse(call.arguments).city);
  const result = { type: "function_call_output", call_id: call.call_id, output };
  const answered = (await ask({ tools, input: [...messages, call, result] })).output_text;
  return { plain, streamed, answered };
}

async function anthropic() {
  const client = new Anthropic({ apiKey, baseURL: url, maxRetries: 0 });
  const settings = { model: "claude-of-this-test", max_tokens: 1000, messages };
  const plain = (await client.messages.create(settings)).content[0].text;
  const streamed = await client.messages.stream(settings).finalText();
  const tools = [{ name: "weather", input_schema: schema }];
  const said = await client.messages.stream({ ...settings, tools }).finalMessage();
  const [call] = said.content;
  const result = { type: "tool_result", tool_use_id: call.id, content: rain(call.input.city) };
  const grown = [...messages, { role: "assistant", content: said.content }, { role: "user", content: [result] }];
  const answered = (await client.messages.create({ ...settings, tools, messages: grown })).content[0].text;
  return { plain, streamed, answered };
}

async function langchain(useResponsesApi) {
  const configuration = { baseURL: `${url}/v1` };
  const model = new ChatOpenAI({ model: "gpt-4o", apiKey, configuration, maxRetries: 0, useResponsesApi });
  const plain = (await model.invoke(messages)).text;
  let streamed = "";
  for await (const chunk of await model.stream(messages)) streamed += chunk.text;
  const bound = model.bindTools([{ type: "function", function: { name: "weather", parameters: schema } }]);
  const said = await bound.invoke(messages);
  const [call] = said.tool_calls;
  const result = { role: "tool", tool_call_id: call.id, content: rain(call.args.city) };
  const answered = (await bound.invoke([...messages, said, result])).text;
  return { plain, streamed, answered };
}

async function vercel(kind) {
  const openai = createOpenAI({ apiKey, baseURL: `${url}/v1` });
  const settings = { model: openai[kind]("gpt-4o"), messages, maxRetries: 0 };
  const plain = (await generateText(settings)).text;
  const streamed = await streamText(settings).text;
  const weather = tool({ inputSchema: jsonSchema(schema), execute: ({ city }) => rain(city) });
  const answered = (await generateText({ ...settings, tools: { weather }, stopWhen: stepCountIs(3) })).text;
  return { plain, streamed, answered };
}

const clients = {
  "openai-chat": openaiChat,
  "openai-responses": openaiResponses,
  anthropic,
  "langchain-chat": () => langchain(false),
  "langchain-responses": () => langchain(true),
  "vercel-chat": () => vercel("chat"),
  "vercel-responses": () => vercel("responses"),
};
console.log(JSON.stringify(await clients[name]()));

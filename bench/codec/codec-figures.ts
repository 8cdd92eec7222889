import assert from 'node:assert/strict';
import { create, type RunEvents, RunEventsSchema } from '@iop/wire';
import { encodeFrame } from '../http/frame.ts';
import { formatTable } from '../report/table.ts';
import { formatCheck } from '../report/verdict.ts';
import type { Check } from '../rows/row.ts';
import { median } from '../statistics.ts';
import { type Contestant, createContestants } from './contestants.ts';

/** P11: what it costs to write and to read the one hot message, a RunEvents with one chunk of a stream. */
export interface CodecFigures {
  /** `handEncodeNs`, `protobuf-esDecodeNs` …: median of the rounds, ns per message. */
  figures: Readonly<Record<string, number>>;
  checks: readonly Check[];
}

const callsPerRound = 100_000;

export function measureCodec(rounds: number): CodecFigures {
  const contestants = createContestants(hotMessage());
  assertEqualBytes(contestants);
  const times = new Map<string, number[]>();
  for (let round = -1; round < rounds; round++) {
    for (const contestant of contestants) {
      const { encodeNs, decodeNs } = timeOnce(contestant);
      // the first round is for the compiler
      if (round < 0) continue;
      note(times, `${contestant.name}EncodeNs`, encodeNs);
      note(times, `${contestant.name}DecodeNs`, decodeNs);
    }
  }
  const figures = Object.fromEntries([...times].map(([name, values]) => [name, median(values)]));
  return { figures, checks: ['Encode', 'Decode'].map((way) => toCheck(figures, way)) };
}

export function formatCodec({ figures, checks }: CodecFigures): string {
  const names = ['hand', 'protobuf-es', 'protobufjs', 'JSON'];
  const lines = names.map((name) => [
    name,
    ...['Encode', 'Decode'].map((way) => (figures[`${name}${way}Ns`] ?? Number.NaN).toFixed(0)),
  ]);
  const table = formatTable(['', 'encode ns', 'decode ns'], lines);
  return ['P11  codec, one RunEvents with one chunk of 230 B', table, ...checks.map(formatCheck)].join('\n');
}

function hotMessage(): RunEvents {
  const data = Buffer.from(encodeFrame({ index: 17, stampUs: 123_456_789, heldUs: 5000 }));
  return create(RunEventsSchema, {
    runId: 'run_01k9zq4m5wabcdefghjkmnpqrs',
    attempt: 1,
    firstSeq: 1234,
    events: [{ kind: { case: 'raw', value: { dialect: 'openai.chat', data, more: false } } }],
  });
}

/** What writes other bytes, or reads something else, is not a contestant. */
function assertEqualBytes([hand, generated, third]: readonly Contestant[]): void {
  const bytes = Uint8Array.from(hand?.encode() ?? []);
  assert.deepEqual(bytes, Uint8Array.from(generated?.encode() ?? []));
  assert.deepEqual(bytes, Uint8Array.from(third?.encode() ?? []));
}

function timeOnce({ encode, decode }: Contestant): { encodeNs: number; decodeNs: number } {
  const bytes = Uint8Array.from(encode());
  let sink = 0;
  const startNs = process.hrtime.bigint();
  for (let call = 0; call < callsPerRound; call++) sink += encode().length;
  const middleNs = process.hrtime.bigint();
  for (let call = 0; call < callsPerRound; call++) sink += decode(bytes) === undefined ? 1 : 0;
  const endNs = process.hrtime.bigint();
  assert.equal(sink, callsPerRound * bytes.length);
  return {
    encodeNs: Number(middleNs - startNs) / callsPerRound,
    decodeNs: Number(endNs - middleNs) / callsPerRound,
  };
}

function note(times: Map<string, number[]>, name: string, value: number): void {
  const values = times.get(name);
  if (values === undefined) times.set(name, [value]);
  else values.push(value);
}

function toCheck(figures: Readonly<Record<string, number>>, way: string): Check {
  const value = (figures[`protobuf-es${way}Ns`] ?? Number.NaN) / (figures[`hand${way}Ns`] ?? Number.NaN);
  return { text: `${way.toLowerCase()}, times as fast as protobuf-es`, value, limit: 2, better: 'more' };
}

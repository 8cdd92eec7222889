import { create, type DescField, type DescMessage, type Message, ScalarType } from '@bufbuild/protobuf';
import { reflect } from '@bufbuild/protobuf/reflect';
import type { WireMessage } from '../codec.ts';
import { EnvelopeSchema } from '../gen/iop/wire/v1/envelope_pb.ts';
import type { Random } from './random.ts';

/** Any message of the protocol with any content that the schema allows. */
export function randomMessage(random: Random): WireMessage {
  const field = random.pick(EnvelopeSchema.oneofs[0]?.fields ?? []);
  if (field.fieldKind !== 'message') throw new Error(`${field.name} is not a message`);
  const value = randomOf(field.message, random);
  return { case: field.localName, value } as unknown as WireMessage;
}

/** A message of one kind, at most `depth` levels deep. */
export function randomOf(schema: DescMessage, random: Random, depth = 5): Message {
  const message = create(schema);
  const view = reflect(schema, message);
  for (const member of schema.members) {
    if (random.below(4) === 0) continue;
    const field = member.kind === 'oneof' ? random.pick(member.fields) : member;
    if (field.fieldKind === 'message' && depth === 0) continue;
    setRandom(view, field, random, depth);
  }
  return message;
}

function setRandom(view: ReturnType<typeof reflect>, field: DescField, random: Random, depth: number): void {
  switch (field.fieldKind) {
    case 'scalar':
      view.set(field, randomScalar(field.scalar, random));
      break;
    case 'enum':
      view.set(field, random.pick(field.enum.values).number);
      break;
    case 'message':
      view.set(field, reflect(field.message, randomOf(field.message, random, depth - 1)));
      break;
    case 'list':
      fillList(view, field, random, depth);
      break;
    case 'map':
      for (let left = random.below(3); left > 0; left--) {
        view.get(field).set(randomText(random), randomText(random));
      }
  }
}

type ListField = DescField & { fieldKind: 'list' };

function fillList(view: ReturnType<typeof reflect>, field: ListField, random: Random, depth: number): void {
  const list = view.get(field);
  for (let left = random.below(4); left > 0; left--) {
    if (field.listKind === 'message') {
      list.add(reflect(field.message, randomOf(field.message, random, depth - 1)));
    } else if (field.listKind === 'enum') list.add(random.pick(field.enum.values).number);
    else list.add(randomScalar(field.scalar, random));
  }
}

function randomScalar(type: ScalarType, random: Random): unknown {
  switch (type) {
    case ScalarType.STRING:
      return randomText(random);
    case ScalarType.BYTES:
      return random.bytes(random.pick([0, 1, 31, 127, 128, 300]));
    case ScalarType.BOOL:
      return random.below(2) === 1;
    case ScalarType.FLOAT:
      return random.pick([0, 0.5, 1]);
    default:
      return random.pick([0, 1, 127, 128, 16_383, 16_384, 2_097_152, 268_435_456, 4_294_967_295]);
  }
}

function randomText(random: Random): string {
  return random.pick([
    '',
    'a',
    'run_01jx5k8v3m4n5p6q7r8s9t0abc',
    'openai.chat',
    'Grüße',
    '日本語',
    '🙂',
    'x'.repeat(200),
  ]);
}

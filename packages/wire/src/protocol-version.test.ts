import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { file_iop_wire_v1_envelope } from './gen/iop/wire/v1/envelope_pb.ts';
import { agreeVersion, protocolFloor, protocolHistory, protocolVersion } from './protocol-version.ts';

/** The Envelope's file and all it imports, by name; descriptors hold no comments. */
function schemaHash(): string {
  const files = [file_iop_wire_v1_envelope, ...file_iop_wire_v1_envelope.dependencies];
  const hash = createHash('sha256');
  for (const file of files.sort((a, b) => a.name.localeCompare(b.name))) {
    hash.update(toBinary(FileDescriptorProtoSchema, file.proto));
  }
  return hash.digest('hex');
}

test('the schema is the one that belongs to the protocol version', () => {
  assert.equal(
    protocolHistory.at(-1)?.schemaHash,
    schemaHash(),
    'the .proto files changed: add a row to protocolHistory with this hash (and a new version once one was released)',
  );
});

test('versions in the history grow, the newest is in force and the floor is at most one below', () => {
  const versions = protocolHistory.map((revision) => revision.version);
  assert.deepEqual(
    versions,
    [...versions].sort((a, b) => a - b),
  );
  assert.equal(versions.at(-1), protocolVersion);
  assert.ok(protocolFloor === protocolVersion || protocolFloor === protocolVersion - 1);
});

test('two sides agree on the lower version, down to the floor', () => {
  assert.equal(agreeVersion(protocolVersion), protocolVersion);
  assert.equal(agreeVersion(protocolVersion + 1), protocolVersion);
  assert.equal(agreeVersion(protocolFloor), protocolFloor);
  assert.equal(agreeVersion(protocolFloor - 1), undefined);
  assert.equal(agreeVersion(0), undefined);
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LiveMap } from './live-map.ts';

describe('LiveMap', () => {
  it('finds what was set, and no longer what was deleted', () => {
    const map = new LiveMap<string, number>();
    map.set('a', 1);
    map.set('b', 2);
    assert.equal(map.delete('a'), true);
    assert.equal(map.delete('a'), false);
    assert.deepEqual([map.get('a'), map.has('a'), map.get('b'), map.size], [undefined, false, 2, 1]);
  });

  it('keeps the order of insertion; a known key keeps its place', () => {
    const map = new LiveMap<string, number>();
    for (const key of ['c', 'a', 'b']) map.set(key, 0);
    map.set('c', 1);
    assert.deepEqual([...map.keys()], ['c', 'a', 'b']);
    assert.deepEqual([...map.values()], [1, 0, 0]);
  });

  it('can be changed while its values are walked', () => {
    const map = new LiveMap<number, number>();
    for (let key = 0; key < 5; key++) map.set(key, key);
    const seen = [];
    for (const value of map.values()) {
      seen.push(value);
      map.delete(value + 1);
      if (value === 4) map.set(5, 5);
    }
    assert.deepEqual(seen, [0, 2, 4, 5]);
  });

  it('is empty after clear', () => {
    const map = new LiveMap<string, number>();
    map.set('a', 1);
    map.clear();
    assert.deepEqual([map.size, map.get('a'), [...map.values()]], [0, undefined, []]);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FactBook } from './fact-book.ts';

describe('fact book', () => {
  it('adds what was measured to what is declared, which counts less', () => {
    const book = new FactBook();
    const images = { name: 'images', holds: false, source: 'declared' } as const;
    const chat = { name: 'chat', holds: false, source: 'declared' } as const;
    assert.deepEqual(book.complete([{ name: 'a' }]), [{ name: 'a' }]);
    book.measured('a', 'tools', true);
    book.measured('a', 'chat', true);
    book.measured('b', 'chat', true);
    assert.deepEqual(book.complete([{ name: 'a', contextLength: 9, facts: [images, chat] }]), [
      {
        name: 'a',
        contextLength: 9,
        facts: [
          { name: 'chat', holds: true, source: 'measured' },
          { name: 'tools', holds: true, source: 'measured' },
          images,
        ],
      },
    ]);
  });

  it('keeps the newest measurement, and not more targets than it may', () => {
    const book = new FactBook();
    book.measured('a', 'tools', true);
    book.measured('a', 'tools', false);
    assert.equal(book.knows('a', 'tools'), false);
    for (let i = 0; i < 1000; i++) book.measured(`t${i}`, 'chat', true);
    assert.equal(book.knows('t999', 'chat'), undefined);
    book.measured('a', 'chat', true);
    assert.equal(book.knows('a', 'chat'), true);
  });
});

import t from 'tap'
import { html, unchanged } from '../../plugins/html.ts'

const written = (text: string): string => html`${text}`.markup

await t.test('a text is markup nowhere', (t) => {
  t.equal(written('<b a="1" b=\'2\'>&amp;'), '&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;amp;')
  t.end()
})

await t.test('control characters are seen, lines and tabs stay', (t) => {
  t.equal(written('\u001b[31mred\u0007\0\u007f\u0085'), '␛[31mred␇␀␡\ufffd')
  t.equal(written('one\n\ttwo\r\n'), 'one\n\ttwo\r\n')
  t.end()
})

await t.test('a letter has no more marks than its line has room for', (t) => {
  t.equal(written(`a${'\u0301'.repeat(90)}b`), `a${'\u0301'.repeat(8)}b`)
  for (const text of ['Nguyễn', 'שָׁלוֹם', 'हिन्दी', '👩‍👩‍👧‍👦', 'e\u0301\u0323']) t.equal(written(text), text)
  t.end()
})

await t.test('a text in which nothing is seen is told by its characters', (t) => {
  t.equal(written('\u200b'), 'U+200B')
  t.equal(written('\u202e'), 'U+202E')
  t.equal(written('\ufeff'), 'U+FEFF')
  t.equal(written('\u3164\u00ad\u2800\u2060'), 'U+3164 U+00AD U+2800 …')
  for (const text of ['', ' ', '\n', '\u00a0', 'a\u200bb']) t.equal(written(text), text)
  t.end()
})

await t.test('what a reader sends back is what it was', (t) => {
  const text = '\u200b\u001ba\u0301'
  t.equal(unchanged(text).markup, text)
  t.end()
})

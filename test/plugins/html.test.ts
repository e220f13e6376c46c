import t from 'tap'
import { linesField, textField } from '../../plugins/console/form/fields.ts'
import { longTextField } from '../../plugins/console/form/text.ts'
import { languages } from '../../plugins/console/language/language.ts'
import { html } from '../../plugins/html.ts'
import { contains } from '../support/matching.ts'

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

await t.test('what a form sends back is what it was, in fields that are seen and in hidden ones', (t) => {
  const fields = { name: 'x', label: 'X' }
  const long = { ...fields, help: '', syntax: 'yaml', problems: [] } as const
  for (const text of ['\u200b', 'Hello\vAda', 'a\u0085b', `a${'\u0301'.repeat(9)}`, '\u001b']) {
    t.equal(html`<input type="hidden" name="x" value="${text}">`.markup, `<input type="hidden" name="x" value="${text}">`)
    contains(t, textField({ ...fields, value: text }).markup, ` value="${text}"`)
    contains(t, linesField({ ...fields, value: text }).markup, `>\n${text}</textarea>`)
    contains(t, longTextField(languages.en, { ...long, value: text }).markup, `>\n${text}</textarea>`)
  }
  t.equal(html`<input value="${'a\u202eb"<'}">`.markup, '<input value="a&#8238;b&quot;&lt;">', 'what turns around does not do so here')
  t.equal(html`<a title="${'\u200b'}">`.markup, '<a title="U+200B">', 'no form sends this')
  t.end()
})

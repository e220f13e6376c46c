import { globSync, readFileSync } from 'node:fs'
import t from 'tap'
import { languages } from '../../plugins/console/language/language.ts'
import { guideSection, readGuide } from '../../plugins/console/pages/guide.ts'
import { contains, lacks } from '../support/matching.ts'

const { en } = languages
const shown = (guide: string, cut = false): string => guideSection(en, 'Post', { guide, cut }).markup
const inside = (guide: string): string => /<div lang="en">([^]*)<\/div><\/section>/.exec(shown(guide))?.[1] ?? ''

await t.test('a guide is made of headings, paragraphs, lists, tables and code; what sets a provider up is open', (t) => {
  const guide = ['# Post', '', 'Letters **by** [post](https://post.example.com/a_b),', 'as `such`.', '', '## At Post', '',
    '1. *Keys*: make a key', '   for `live`.', '2. Copy it.', '', '- one', '- two', '', '## Settings', '', '| setting | meaning |',
    '|---|---|', '| `key` | the key \\| secret |', '| `url` | |', '', '## Not supported', '', '### More', '```sh', '## no heading <b>',
    '```']
  t.equal(inside(guide.join('\r\n')),
    '<p>Letters <strong>by</strong> <a href="https://post.example.com/a_b" rel="noreferrer">post</a>, as <code>such</code>.</p>' +
      '<details open><summary>At Post</summary><ol><li><em>Keys</em>: make a key for <code>live</code>.</li><li>Copy it.</li></ol>' +
      '<ul><li>one</li><li>two</li></ul></details>' +
      '<details open><summary>Settings</summary><dl><dt><code>key</code></dt><dd><span class="quiet">meaning</span> the key | secret</dd>' +
      '<dt><code>url</code></dt></dl></details>' +
      '<details><summary>Not supported</summary><h3>More</h3><pre>## no heading &lt;b&gt;</pre></details>')
  t.end()
})

await t.test('the title alone is left out, and numbers go on behind what parts a list', (t) => {
  t.equal(inside('\n# Post\n# More\n```\n# a comment\n```'), '<h3>More</h3><pre># a comment</pre>')
  t.equal(inside('```\n# a comment\n```\n# Post'), '<pre># a comment</pre><h3>Post</h3>')
  t.equal(inside('1. One\n2. Two\n```\ncode\n```\n3. Three\n\n4. Four'),
    '<ol><li>One</li><li>Two</li></ol><pre>code</pre><ol start="3"><li>Three</li></ol><ol start="4"><li>Four</li></ol>')
  t.end()
})

await t.test('a guide costs no more than its length: no line is copied for each line before it', (t) => {
  const lines = Array.from({ length: 400 }, () => ['a', '|']).flat()
  let copied = 0
  const { slice } = Array.prototype
  const counting = function (this: unknown[], ...bounds: [number?, number?]): unknown[] {
    const copy = slice.apply(this, bounds)
    copied += copy.length
    return copy
  }
  Object.assign(Array.prototype, { slice: counting })
  try {
    inside(lines.join('\n'))
  } finally {
    Object.assign(Array.prototype, { slice })
  }
  t.ok(copied > 0 && copied < 10 * lines.length, String(copied))
  t.end()
})

await t.test('a provider without a guide has none; any other refusal is told', async (t) => {
  const refusing = (status: number): Parameters<typeof readGuide>[0] => ({
    send: () => Promise.resolve({ ok: false, status, error: { error: 'rate_limited', message: 'Refused.', requestId: '' } })
  })
  t.equal(await readGuide(refusing(404), 'post'), undefined)
  for (const status of [403, 429, 500]) await t.rejects(readGuide(refusing(status), 'post'), { name: 'ApiRefused' }, String(status))
})

await t.test('a guide that is cut says so', (t) => {
  contains(t, shown('# Post', true), `<p class="quiet">${en.guideCut}</p></section>`)
  lacks(t, shown('# Post'), en.guideCut)
  t.end()
})

await t.test('nothing in a guide is markup, and no link leads to a script or into the console', (t) => {
  const hostile =
    '# <b>\n<script>alert(1)</script> [a](javascript:alert(1)) [b](/console/sign-out) [c](http://x.example) [d](https://x"onx=1)\n' +
    '[e](https:/console/sign-out) [f](https:sign-in) [g](https:\\\\console) [h](//x.example)\n' +
    '## <img src=x onerror=alert(1)>\n`<i>` **<u>**\n| <s> |\n|---|\n| <td> |\n- <li>\n```<pre>\n</pre>'
  const text = inside(hostile)
  lacks(t, text, /<(b|script|img|i|u|s|td)\b/)
  lacks(t, text, /href="(?!https:\/\/)/)
  lacks(t, text, /"on/)
  contains(t, text, '&lt;script&gt;')
  contains(t, text, '<a href="https://x&quot;onx=1"')
  t.end()
})

await t.test('the guide of each provider that comes with the service has all of its sections, and no mark is left over', (t) => {
  const guides = globSync('{providers,providers/community}/*/README.md', { cwd: new URL('../..', import.meta.url) })
  t.ok(guides.length > 10)
  for (const path of guides) {
    const guide = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
    const text = inside(guide)
    t.equal(text.split('<summary>').length, guide.split('\n## ').length, path)
    lacks(t, text.replaceAll(/<code>[^<]*<\/code>|<pre>[^<]*<\/pre>/g, ''), /`|\*\*|\]\(|\|---/, path)
  }
  t.end()
})

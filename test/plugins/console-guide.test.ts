import { globSync, readFileSync } from 'node:fs'
import t from 'tap'
import { languages } from '../../plugins/console/language/language.ts'
import { guideSection, readGuide } from '../../plugins/console/pages/guide.ts'
import { contains, lacks } from '../support/matching.ts'

const { en, fr } = languages
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

await t.test('how a provider is set up comes in the language of the reader, before the whole guide', async (t) => {
  const requested: string[] = []
  const api: Parameters<typeof readGuide>[0] = {
    send: (_method: string, path: string) => {
      requested.push(path)
      const [, code, language] = /providers\/(\w+)\/guide(?:\?language=(\w+))?$/.exec(path) ?? []
      const guide = language === undefined ? '# Post\n\n## At Post\n\nAsk.' : '# Post\n\n## Chez Post\n\nDemandez.'
      return Promise.resolve(
        code === 'plain' && language !== undefined
          ? { ok: false, status: 404, error: { error: 'not_found', message: 'None.', requestId: '' } }
          : { ok: true, status: 200, body: { code, guide, cut: false } }
      ) as never
    }
  }
  const english = '<div lang="en"><details open><summary>At Post</summary><p>Ask.</p></details></div>'
  const inFrench = guideSection(fr, 'Post', await readGuide(api, 'post', 'fr')).markup
  contains(t, inFrench, '</h2><div><details open><summary>Chez Post</summary><p>Demandez.</p></details></div>' +
    `<details><summary>${fr.guideWhole}</summary>${english}</details>`)
  contains(t, guideSection(fr, 'Post', await readGuide(api, 'plain', 'fr')).markup, `</h2>${english}</section>`)
  requested.length = 0
  contains(t, guideSection(en, 'Post', await readGuide(api, 'post', 'en')).markup, `</h2>${english}</section>`)
  t.same(requested, ['/api/v1/providers/post/guide'])
})

await t.test('every shipped provider says in French how it is set up, step by step as in English', (t) => {
  const steps = (text: string): number => (text.match(/^\d+\. /gm) ?? []).length
  const settingUp = (text: string): string[] => text.split(/^(?=## )/m).filter((part) => /^## (?:At|Chez) /.test(part))
  for (const readme of globSync('providers/*/README.md')) {
    const [english, french] = [readme, readme.replace('README.md', 'guide.fr.md')].map((path) => settingUp(readFileSync(path, 'utf8')))
    t.same(french?.map(steps), english?.map(steps), readme)
    const codeIn = (parts: string[] = []): string[] =>
      parts.join('').match(/`(?:https:|GET |POST |DISPATCH_|[a-z]+\.[a-z]+\.[a-z]+)[^`]*`/g) ?? []
    t.same(codeIn(french).sort(), codeIn(english).sort(), `${readme}: addresses and variables`)
  }
  t.end()
})

await t.test('a provider without a guide has none; any other refusal is told', async (t) => {
  const refusing = (status: number): Parameters<typeof readGuide>[0] => ({
    send: () => Promise.resolve({ ok: false, status, error: { error: 'rate_limited', message: 'Refused.', requestId: '' } })
  })
  t.equal(await readGuide(refusing(404), 'post', 'fr'), undefined)
  for (const status of [403, 429, 500]) await t.rejects(readGuide(refusing(status), 'post', 'en'), { name: 'ApiRefused' }, String(status))
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

import fc from 'fast-check'
import t from 'tap'
import { contains, has, lacks } from '../../../../test/support/matching.ts'
import type { TemplateSource } from '../model/model.ts'
import { readable } from '../model/output.ts'
import { renderHtml } from '../render/html.ts'
import { elementsOf, textIn } from './html-support.ts'
import { compiled, made, problemsOf } from './support.ts'
import { anyDocument, documentOf, textsOf, wordsIn } from './trees.ts'

const png = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGOQ9esEAAGAAPXyUV94AAAAAElFTkSuQmCC'

/** Text that would do harm if any of it were read as HTML. */
const hostile = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '\' onmouseover=\'alert(1)',
  '</td></table><form action="https://evil.example">',
  '<!-- ',
  ']]>',
  '&lt;b&gt; &amp; &#60;',
  '<style>@import "https://evil.example"</style>',
  '</title><script src="https://evil.example/x.js"></script>',
  'a & b < c > d "e" \'f\'',
  '<a href="javascript:alert(1)">x</a>',
  'javascript:alert(1)',
  '{{ 7 | times: 7 }}',
  'expression(alert(1))',
  'url(https://evil.example/x.png)'
]

const everywhere = {
  title: '{{ x }}',
  preheader: '{{ x }}',
  header: [{ paragraph: '{{ x }}' }],
  footer: [{ paragraph: '**{{ x }}** {{ page }}' }],
  body: [
    { heading: '{{ x }}' },
    { paragraph: 'a **{{ x }}** *{{ x }}* [{{ x }}](https://example.com/?q={{ x | url_encode }})' },
    { keyValues: { entries: [{ label: '{{ x }}', value: 'x' }] } },
    {
      table: {
        each: 'list',
        as: 'i',
        columns: [{ header: '{{ x }}', value: 'i' }, { header: 'B', text: '{{ i }}' }],
        totals: [{ label: '{{ x }}', value: 'x' }]
      }
    },
    { image: { value: 'logo', alt: '{{ x }}' } },
    { button: { text: '{{ x }}', url: 'url' } },
    { signature: { signer: 1, label: '{{ x }}' } }
  ]
}

const tags = /^(a|b|body|br|div|h[123]|head|html|i|img|meta|p|style|table|tbody|td|tfoot|th|thead|title|tr)$/

/** Rules for dark screens, which change colours alone. */
const colours =
  /^@media \(prefers-color-scheme:dark\)\{(?:\[(?:bgcolor=|style\*=)"(?:color:)?#[0-9a-f]{6}"\]\{(?:background|color|border-color):#[0-9a-f]{6}!important\})*\}$/

/**
 * What no mail may have, whatever the template and the data: other tags, scripts, anything that is loaded from outside, links to anywhere
 * else.
 */
function harms (html: string, parts: readonly { cid: string }[]): string[] {
  const cids = parts.map(({ cid }) => `cid:${cid}`)
  return elementsOf(html).flatMap(({ tag, attributes, text }) => [
    ...(tags.test(tag) && (tag !== 'style' || colours.test(text)) ? [] : [tag]),
    ...Object.entries(attributes).flatMap(([name, value]) => {
      const isFine = name === 'src' ? cids.includes(value) : allowed(name).test(value)
      return isFine ? [] : [`${name}="${value}"`]
    })
  ])
}

/** The values that an attribute may have. */
function allowed (name: string): RegExp {
  if (name === 'href') return /^(https?:\/\/|mailto:|tel:)[^\s"<>]*$/i
  if (name === 'style') return /^(?!.*(url|expression|import|@|\/\*))[^{}<>\\]*$/i
  if (name === 'dir') return /^(ltr|rtl)$/
  if (name === 'alt') return /^/
  return /^(bgcolor|border|cellpadding|cellspacing|charset|colspan|content|height|lang|name|role|scope|valign|align|width)$/.test(name)
    ? /^[\w#%. ,=-]*$/
    : /(?!)/
}

for (const text of hostile) {
  void t.test(`in HTML, ${text} is text wherever it stands`, async (t) => {
    const { html, inline } = await made('html', compiled(everywhere.body, everywhere), {
      x: text,
      list: [text],
      logo: png,
      url: 'https://example.com/pay'
    })
    t.same(harms(html, inline), [])
    const shown = textIn(html)
    t.equal(shown.split(text.replaceAll(/\s/g, '')).length - 1, 17, 'it is shown at each of its places')
    t.equal(elementsOf(html).find(({ tag }) => tag === 'img')?.attributes['alt'], text)
  })
}

const notLinks = ['javascript:alert(1)', 'JaVaScRiPt:alert(1)', ' javascript:alert(1)', 'java\nscript:alert(1)',
  'data:text/html,<script>1</script>', 'vbscript:x', 'file:///etc/passwd', '//evil.example', 'cid:x', '/relative', 'https:evil.example', '']

void t.test('only addresses of the web, mail and telephone become links, in text and in buttons', async (t) => {
  for (const link of notLinks) {
    const { html } = renderHtml(documentOf([
      { kind: 'paragraph', runs: [{ text: 'label', link }], align: 'left', color: '#000000' },
      { kind: 'button', text: 'press', url: link }
    ]))
    t.same(elementsOf(html).filter(({ attributes }) => 'href' in attributes), [], link)
    contains(t, textIn(html), /label.*press/)
    const problems = await problemsOf([{ button: { text: 'press', url: 'a.url' } }], { a: { url: link } })
    t.same(problems.map(({ path, code }) => [path, code]), link === '' ? [] : [['/a/url', 'bad_link']])
  }
})

void t.test('links keep their address, with what would end it encoded', async (t) => {
  const { html } = await made('html', compiled([
    { paragraph: '[a](https://x.example/?a=1&b=\'{{ q }}\') [b](mailto:a@b.example) [c](tel:+15550001)' },
    { button: { text: 'd', url: 'url' } }
  ]), { q: 'y">z', url: 'HTTPS://x.example/a b' })
  t.same(elementsOf(html).flatMap(({ attributes: { href } }) => href ?? []), [
    'https://x.example/?a=1&b=\'y%22%3Ez\'',
    'mailto:a@b.example',
    'tel:+15550001',
    'HTTPS://x.example/a%20b'
  ])
})

void t.test('a button without an address is left out', async (t) => {
  const { html, text } = await made('html', compiled([{ paragraph: 'x' }, { button: { text: 'press', url: 'url' } }]), {})
  lacks(t, html + text, /press/)
})

void t.test('the document says its language, title and how it stands to dark screens; the preheader is hidden', async (t) => {
  const template = compiled([{ paragraph: 'body' }], { title: 'Invoice {{ n }}', preheader: 'Pay {{ n }}', locale: 'de-DE' })
  const { html } = await made('html', template, { n: 7 })
  const elements = elementsOf(html)
  contains(t, html, /^<!doctype html>\n<html lang="de-DE">/)
  contains(t, html, '<title>Invoice 7</title>')
  t.ok(elements.some(({ attributes }) => attributes['name'] === 'color-scheme' && attributes['content'] === 'light dark'))
  contains(t, elements.find(({ tag }) => tag === 'div')?.attributes['style'], /^display:none;/)
  contains(t, textIn(html), /Pay7body$/)
  lacks(t, (await made('html', compiled([{ paragraph: 'body' }]), {})).html, 'display:none')
})

void t.test('every text has its own colour, on a background that has one too', async (t) => {
  const { html } = await made('html', compiled(everywhere.body, everywhere), {
    x: 'text',
    list: ['text'],
    logo: png,
    url: 'https://example.com'
  })
  for (const { tag, text, around } of elementsOf(html)) {
    if (text.trim() === '' || ['title', 'head', 'style'].includes(tag)) continue
    const styles = around.map(({ attributes }) => attributes['style'] ?? '').join(';')
    contains(t, styles, /(^|;)color:#/, text)
    contains(t, styles, /background:#/, text)
  }
})

void t.test('a picture travels once, with its bytes, however often it is shown', async (t) => {
  const template = compiled([
    { image: { asset: 'logo', width: 30 } },
    { image: { asset: 'logo' } },
    { columns: { items: [{ do: [{ image: { value: 'a' } }] }] } }
  ], { assets: { logo: png } })
  const { html, inline } = await made('html', template, { a: png })
  t.equal(inline.length, 1)
  has(t, inline[0], { contentType: 'image/png', filename: 'picture-1.png', bytes: Buffer.from(png.slice(22), 'base64') })
  const shown = elementsOf(html).filter(({ tag }) => tag === 'img').map(({ attributes: { src, width } }) => [src, width])
  t.same(shown, ['113', '1', '1'].map((width) => [`cid:${inline[0]?.cid ?? ''}`, width]))
})

void t.test('a picture is never wider than its column', async (t) => {
  const { html } = await made('html', compiled([
    { image: { value: 'a', width: 900 } },
    { columns: { gap: 0, items: [{ do: [{ image: { value: 'a', height: 900 } }] }, { do: [] }] } }
  ]), { a: png })
  t.same(elementsOf(html).filter(({ tag }) => tag === 'img').map(({ attributes }) => attributes['width']), ['576', '288'])
})

void t.test('what has no meaning in a mail becomes what the guide says', async (t) => {
  const more = { header: [{ paragraph: 'HEAD' }], footer: [{ paragraph: 'FOOT {{ page }}/{{ pages }}' }] }
  const { html } = await made('html',
    compiled([{ paragraph: 'one' }, { pageBreak: true as const }, { paragraph: 'two' }, { signature: { signer: 1, label: 'Ada' } }], more),
    {})
  contains(t, textIn(html), /HEADonetwoAdaFOOT1\/1$/)
  t.equal([...html.matchAll(/border-top:1px solid/g)].length, 2, 'a line for the new page, and one to sign on')
})

void t.test('any document is well-formed HTML that shows all of its text, in its order, and nothing else', (t) => {
  fc.assert(fc.property(anyDocument, (document) => {
    const { html, inline } = renderHtml(document)
    if (harms(html, inline).length > 0) return false
    const body = html.slice(html.indexOf('<body'))
    return textIn(body) ===
      textsOf([...document.header, ...document.body, ...document.footer]).map((text) => readable(text).replaceAll(/\s/g, '')).join('')
  }), { numRuns: 200 })
  t.end()
})

void t.test('any document has all of its words in the plain-text alternative', (t) => {
  fc.assert(fc.property(anyDocument, (document) => {
    const { text } = renderHtml(document)
    const found = new Set(wordsIn(text))
    return textsOf([...document.header, ...document.body, ...document.footer]).flatMap((part) => wordsIn(readable(part))).every((word) =>
      found.has(word) || text.includes(word)
    )
  }), { numRuns: 200 })
  t.end()
})

void t.test('a text that would be too large ends in an error, before it fills the memory', async (t) => {
  const rows = Array.from({ length: 20_000 }, () => 1)
  const wide = compiled([{ table: { each: 'rows', as: 'r', columns: Array.from({ length: 30 }, () => ({ header: 'x', value: 'r' })) } }])
  // No column of a text is as wide as this header: it stands before each cell.
  const headed = compiled([{ table: { each: 'rows', as: 'r', columns: [{ header: 'x'.repeat(900), value: 'r' }] } }])
  const tooLarge = { name: 'RenderError', message: /more than 10000000 characters/ }
  await t.rejects(made('html', wide, { rows }), tooLarge)
  await t.rejects(made('html', headed, { rows }), tooLarge)
})

void t.test('on a dark screen every colour of text stands out from dark paper, about as it did from white', async (t) => {
  const { html } = await made('html', compiled([
    { paragraph: { text: 'a', color: '#7a0000' } },
    { columns: { items: [{ do: [{ heading: { text: 'b', color: '#ffe0e0' } }] }] } }
  ]), {})
  const [sheet] = elementsOf(html).filter(({ tag }) => tag === 'style')
  const dark = new Map(
    Array.from((sheet?.text ?? '').matchAll(/\[style\*="color:(#[0-9a-f]{6})"\]\{color:(#[0-9a-f]{6})/g),
      ([, light = '', other = '']) => [light, other])
  )
  for (const color of ['#1f2933', '#1d4e89', '#66727f', '#7a0000', '#ffe0e0']) {
    const contrast = contrastOf(dark.get(color) ?? '', '#1b2026')
    t.ok(contrast >= 4.5 && contrast <= 14, `${color}: ${contrast}`)
  }
  t.ok(contrastOf(dark.get('#66727f') ?? '', '#1b2026') < contrastOf(dark.get('#1f2933') ?? '', '#1b2026'), 'what is muted stays so')
})

/** WCAG 2.2, contrast ratio. */
function contrastOf (one: string, other: string): number {
  const luminance = (color: string): number =>
    [0.2126, 0.7152, 0.0722].reduce((sum, weight, index) => {
      const share = Number.parseInt(color.slice(1 + 2 * index, 3 + 2 * index), 16) / 255
      return sum + weight * (share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4)
    }, 0)
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}

void t.test('a paragraph that is read from right to left says so, and a document in such a language is so as a whole', async (t) => {
  const body: TemplateSource['body'] = [
    { paragraph: 'שלום!' },
    { heading: 'Latin' },
    { table: { each: 'lines', as: 'line', columns: [{ header: 'a', value: 'line' }, { header: 'b', value: 'line', type: 'number' }] } }
  ]
  const look = async (locale: string): Promise<unknown> =>
    elementsOf((await made('html', compiled(body, { locale }), { lines: [1] })).html)
      .filter(({ tag }) => ['html', 'p', 'h1', 'td', 'th'].includes(tag)).map(({ tag, attributes }) =>
        [tag, attributes['dir'], /text-align:(\w+)/.exec(attributes['style'] ?? '')?.[1]] as const
      ).filter(([, dir, side]) => dir !== undefined || side !== undefined)
  t.same(await look('en'), [
    ['p', 'rtl', 'right'],
    ['h1', undefined, 'left'],
    ['th', undefined, 'left'],
    ['th', undefined, 'right'],
    [
      'td',
      undefined,
      'left'
    ],
    ['td', undefined, 'right']
  ])
  t.same(await look('he'), [
    ['html', 'rtl', undefined],
    ['p', undefined, 'right'],
    ['h1', 'ltr', 'right'],
    ['th', undefined, 'right'],
    ['th', undefined, 'left'],
    ['td', undefined, 'right'],
    ['td', undefined, 'left']
  ])
})

import t from 'tap'
import { unreadFields } from '../../core/packages/documents/compile/field-usage.ts'
import { elementsOf } from '../../core/packages/documents/test/html-support.ts'
import { made, pagesOf, type Text, wordsOf } from '../../core/packages/documents/test/support.ts'
import { lacks } from '../support/matching.ts'
import { allShipped, golden } from './shipped.ts'

const templates = await allShipped()

/** What a page is made of: each text with its place, in points from the top left corner. */
function placesOf (pages: readonly (readonly Text[])[]): string {
  return pages.map((page, index) =>
    `page ${String(index + 1)}\n${page.map(({ text, x, y }) => `${y.toFixed(1)} ${x.toFixed(1)} ${text}\n`).join('')}`
  ).join('')
}

/** What a mail is made of, without its looks: each tag with what it links to, and the text in it. */
function outlineOf (html: string): string {
  return elementsOf(html).filter(({ tag, text }) =>
    tag !== 'head' && tag !== 'style' && (text.trim() !== '' || tag === 'img' || tag === 'a')
  )
    .map(({ tag, attributes, text }) =>
      [tag, attributes['href'] ?? attributes['alt'], text.trim()].filter((part) => part !== undefined && part !== '').join(' | ')
    ).join('\n') + '\n'
}

/** Of these services a sample is a document on pages, of the others a text. */
const paged = ['invoicing', 'postal', 'esign', 'file']

/** What only machines read: identifiers of networks, codes, schemes. */
const unseen = /\/(electronicAddress|businessProcess|taxCategory|scheme|code)$/

for (const { folder, service, samples, compiled } of templates) {
  void t.test(`${folder}: there is a sample in English and one in French, of an invoice one in each language`, (t) => {
    const others = folder === 'invoice' || folder === 'e-invoice' ? ['de', 'es', 'fr', 'it', 'nl'] : ['fr']
    t.same(Object.entries(samples).map(([name, { language }]) => [name, language]).sort(), [
      ['sample', undefined],
      ...others.map((language) => [`sample.${language}`, language])
    ])
    t.end()
  })

  for (const [name, data] of Object.entries(samples)) {
    void t.test(`${folder}, ${name}: all of it is read, and shown in every format`, async (t) => {
      t.same(unreadFields(compiled.uses, data).filter((field) => !unseen.test(field)), [])
      const { html, text } = await made('html', compiled, data)
      const texts = [await wordsOf(await made('pdf', compiled, data)), html, text, (await made('text', compiled, data)).text]
      for (const shown of texts) lacks(t, shown, /undefined|\bnull\b|NaN|\[object|\{\{|\{%/)
      t.ok(html.length < 100_000, 'Gmail hides what comes after 102 kB')
    })

    void t.test(`${folder}, ${name}: its texts stand where they stood`, async (t) => {
      if (paged.includes(service)) await golden(t, `${folder}.${name}.pdf.txt`, placesOf(await pagesOf(await made('pdf', compiled, data))))
      else if (service === 'sms') await golden(t, `${folder}.${name}.txt`, (await made('text', compiled, data)).text)
      else {
        const { html, text, inline } = await made('html', compiled, data)
        await golden(t, `${folder}.${name}.html.txt`, outlineOf(html))
        await golden(t, `${folder}.${name}.txt`, text)
        t.same(inline, [])
      }
    })
  }
}

import { type Html, html } from '@dispatch/plugins/routes'
import { Lexer, Marked, type RendererThis, type Token, type Tokens } from 'marked'
import type { Language } from './library.ts'

/** Where a link of a page leads in the documentation; undefined where nothing is served. */
export type Resolve = (link: string) => string | undefined

/** What the words behind the language of a block of code say of it. */
const captions = {
  en: { answer: 'Answer', callback: 'Callback' },
  fr: { answer: 'Réponse', callback: 'Rappel' }
} as const satisfies Readonly<Record<Language, Readonly<Record<string, string>>>>

/** A page as markup. Raw markup in the text stays text, and a link leads to what the documentation has or to another site. */
export function markupOf (markdown: string, resolve: Resolve, language: Language = 'en'): Html {
  const slug = slugs()
  const captionOf: Readonly<Record<string, string>> = captions[language]
  const inner = (renderer: RendererThis, tokens: Tokens.Generic[] | undefined): Html => ({
    markup: renderer.parser.parseInline(tokens ?? [])
  })
  const marked = new Marked({
    gfm: true,
    renderer: {
      html: ({ text }) => html`${text}`.markup,
      heading ({ tokens, depth, text }) {
        const tag = { markup: `h${String(depth)}` }
        return html`<${tag} id="${slug(text)}">${inner(this, tokens)}</${tag}>\n`.markup
      },
      code: ({ text, lang = '' }) => {
        const [, ...words] = lang.split(' ')
        const caption = words.map((word) => captionOf[word] ?? /^file=(.+)$/.exec(word)?.[1]).find((one) => one !== undefined)
        return html`${caption === undefined ? [] : html`<p class="caption">${caption}</p>\n`}<pre><code>${text}</code></pre>\n`.markup
      },
      link ({ href, tokens }) {
        const text = inner(this, tokens)
        const to = /^(https?:|mailto:)/.test(href) ? href : href.startsWith('#') ? href : resolve(href)
        if (to === undefined) return text.markup
        return /^https?:/.test(to) ? html`<a href="${to}" rel="noreferrer">${text}</a>`.markup : html`<a href="${to}">${text}</a>`.markup
      },
      image: ({ href, text }) => {
        const from = resolve(href)
        return (from === undefined ? html`${text}` : html`<img src="${from}" alt="${text}" loading="lazy">`).markup
      },
      table ({ header, rows }) {
        const isNamed = header.some(({ text }) => text !== '')
        const head = header.map(({ tokens, text }) => text === '' ? html`<td></td>` : html`<th scope="col">${inner(this, tokens)}</th>`)
        const body = rows.map((row) => html`<tr>${row.map(({ tokens }) => html`<td>${inner(this, tokens)}</td>`)}</tr>\n`)
        return html`<div class="scroll" tabindex="0" role="group"><table>
${isNamed ? html`<thead><tr>${head}</tr></thead>\n` : []}<tbody>
${body}</tbody></table></div>\n`.markup
      }
    }
  })
  return { markup: marked.parse(markdown, { async: false }) }
}

/** The text of a page in one line, without its code. */
export function plainOf (markdown: string): string {
  return said(new Lexer({ gfm: true }).lex(markdown)).replaceAll(/\s+/g, ' ').trim()
}

function said (tokens: readonly Token[]): string {
  return tokens.map((token) => {
    if (token.type === 'code') return ''
    if (token.type === 'table') {
      const { header, rows } = token as Tokens.Table
      return [header, ...rows].map((cells) => `${cells.map((cell) => said(cell.tokens)).join(' ')}. `).join('')
    }
    if (token.type === 'list') return (token as Tokens.List).items.map((item) => `${said(item.tokens)} `).join('')
    const { tokens: parts, text = '' } = token as Tokens.Generic & { text?: string }
    return `${parts === undefined ? text : said(parts)}${token.type === 'paragraph' ? ' ' : ''}`
  }).join('')
}

/** The same page as Markdown, whose links lead there. Those to what the documentation does not have stay as they are. */
export function markdownOf (markdown: string, resolve: Resolve): string {
  return markdown.replaceAll(/\]\(([^)\s]+)\)/g, (whole, link: string) => {
    const to = /^[a-z]+:|^[#/]/.test(link) ? undefined : resolve(link)
    return to === undefined ? whole : `](${to})`
  })
}

/** Names of headings as the pages link to them: small, without punctuation, and each once. */
export function slugs (): (title: string) => string {
  const seen = new Map<string, number>()
  return (title) => {
    const name = title.toLowerCase().replaceAll(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-')
    const before = seen.get(name)
    seen.set(name, (before ?? 0) + 1)
    return before === undefined ? name : `${name}-${String(before)}`
  }
}

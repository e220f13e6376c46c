import { latestVersion } from '@dispatch/contract'
import { languageOf, stylesheet } from '@dispatch/plugins/console'
import { type Html, html, permissionsPolicies, precompress, sendPrecompressed, sendTagged, type Tagged, tagged,
  taggedOf } from '@dispatch/plugins/routes'
import type { FastifyPluginCallback, FastifyReply } from 'fastify'
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { ApiDocument } from '../service/api.ts'
import type { Documentation } from '../service/documentation.ts'
import type { Language } from '../service/library.ts'
import { llmsText } from '../service/llms.ts'
import { plainOf } from '../service/markdown.ts'
import { layoutOf } from './layout.ts'

/** The style of the console, and what pages of text need besides. Its address changes with it. */
const style = precompress(Buffer.concat([stylesheet.bytes, readFileSync(new URL('documentation.css', import.meta.url))]))
const stylePath = `/docs/${hash('sha256', style.bytes).slice(0, 12)}.css`

/** Nothing from elsewhere, no script, and forms lead to the search. */
const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': 'default-src \'none\'; style-src \'self\'; img-src \'self\' data:; form-action \'self\'; base-uri \'none\'; ' +
    'frame-ancestors \'none\'; require-trusted-types-for \'script\'',
  'permissions-policy': permissionsPolicies.other,
  'cache-control': 'no-cache'
}
/** How many parts a search finds, and how many characters of each it shows people, and tells programs. */
const [maxFound, shown, longest] = [20, 240, 2_000]

/** Where the pages were on which requests are tried, before they had an address of their own. */
const moved = ['static/*', 'json', 'yaml', 'reference/static/*', 'reference/json', 'reference/yaml'] as const

type At = { Params: { '*': string } }
type Requested = { Querystring: Readonly<Record<string, unknown>> }

/** `/docs`: the pages of the documentation, their search, and `llms.txt`, which tells programs of them (llmstxt.org). */
export const documentationRoutes: FastifyPluginCallback<{ documentation: Documentation, config: { publicUrl: string } }> = (
  app,
  { documentation, config: { publicUrl } },
  done
) => {
  const schema = { operationId: 'readDocumentation', hide: true }
  documentation.describe(() => app.openapi(latestVersion) as unknown as ApiDocument)
  const page = (given: Omit<Parameters<typeof layoutOf>[0], 'pages' | 'style'>): string =>
    layoutOf({ ...given, pages: documentation.pages(), style: stylePath }).markup
  // Each page is made once: they change with the release alone.
  const made = new Map<string, Tagged>()
  const kept = (address: string, make: () => Tagged): Tagged => {
    const known = made.get(address) ?? make()
    made.set(address, known)
    return known
  }
  const keep = (address: string, make: () => string): Tagged => kept(address, () => tagged(Buffer.from(make())))

  const start = {
    en: () => page({ title: 'Documentation', address: 'en', main: startOf(documentation), other: 'fr' }),
    fr: () => page({ title: 'Documentation en français', address: 'fr', main: frenchStartOf(documentation), language: 'fr', other: 'en' })
  }
  // Without a language in the address, it is the one in which the console speaks to the same reader.
  app.get('/docs', { schema }, async (request, reply) => {
    void reply.header('vary', 'accept-language, cookie')
    return languageOf(request).code === 'fr'
      ? reply.header('cache-control', 'no-cache').redirect('/docs/fr')
      : sendTagged(request, reply.headers(pageHeaders), keep('en', start.en))
  })
  app.get('/docs/en', { schema }, async (request, reply) => sendTagged(request, reply.headers(pageHeaders), keep('en', start.en)))
  app.get('/docs/fr', { schema }, async (request, reply) => sendTagged(request, reply.headers(pageHeaders), keep('fr', start.fr)))
  app.get('/docs/', { schema }, async (_request, reply) => reply.redirect('/docs', 301))
  app.get('/docs/reference/', { schema }, async (_request, reply) => reply.redirect('/docs/reference', 301))
  for (const path of moved) {
    app.get<At>(`/docs/${path}`, { schema }, async ({ url }, reply) =>
      reply.redirect(url.replace(/^\/docs\/(reference\/)?/, '/docs/try/'), 301))
  }
  app.get(stylePath, { schema }, async (request, reply) => {
    void reply.type('text/css; charset=utf-8').header('cache-control', 'public, max-age=31536000, immutable')
    return sendPrecompressed(request, reply, style)
  })

  for (const [path, language] of [['/docs/search', 'en'], ['/docs/fr/search', 'fr']] as const) {
    app.get<Requested>(path, { schema }, async ({ query: { q } }, reply) => {
      const query = typeof q === 'string' ? q.slice(0, 200).trim() : ''
      const { title, main } = foundOf(query, documentation, language)
      return reply.headers(pageHeaders).send(page({ title, query, main, language }))
    })
  }

  app.get<Requested>('/docs/search.json', { schema }, async ({ query: { q } }, reply) => {
    const query = typeof q === 'string' ? q.slice(0, 200).trim() : ''
    const data = documentation.search(query, maxFound).map(({ title, address, text }) => ({
      title,
      url: `${publicUrl}${address}`,
      text: text.slice(0, longest)
    }))
    return reply.header('cache-control', 'no-cache').send({ data })
  })

  app.get<At>('/docs/pictures/*', { schema }, async ({ params: { '*': path } }, reply) => {
    const bytes = documentation.picture(path)
    if (bytes === undefined) return missing(reply, page(nowhere.en))
    return reply.type(path.endsWith('.svg') ? 'image/svg+xml' : 'image/png').header('cache-control', 'no-cache').send(bytes)
  })

  app.get<At>('/docs/*', { schema }, async (request, reply) => {
    const { '*': path } = request.params
    const found = documentation.page(path.replace(/\.md$/, ''))
    if (found === undefined) return missing(reply, page(path.startsWith('fr/') ? nowhere.fr : nowhere.en))
    if (path.endsWith('.md')) {
      return reply.type('text/markdown; charset=utf-8').header('cache-control', 'no-cache').send(documentation.markdown(found))
    }
    const { address, title, language, other } = found
    const make = (): string => page({ title, address, main: documentation.markup(found), language, other })
    // Those of the reference are many, and made of what is in memory.
    const isMade = found.section === 'Reference' && found.file === undefined
    const body = isMade ? kept(address, () => taggedOf(() => Buffer.from(make()))) : keep(address, make)
    return sendTagged(request, reply.headers(pageHeaders), body)
  })

  app.get('/llms.txt', { schema },
    async (_request, reply) =>
      reply.type('text/plain; charset=utf-8').header('cache-control', 'no-cache').send(llmsText(documentation.pages(), publicUrl)))
  done()
}

const nowhere = {
  en: {
    title: 'Not found',
    main: html`<h1>There is no such page</h1>
<p>Search for it above, or look at <a href="/docs/en">the start of the documentation</a>.</p>
`
  },
  fr: {
    title: 'Introuvable',
    language: 'fr',
    main: html`<h1>Cette page n’existe pas</h1>
<p>Cherchez-la ci-dessus, ou voyez <a href="/docs/fr">le début de la documentation</a>.</p>
`
  }
} as const

function missing (reply: FastifyReply, page: string): FastifyReply {
  return reply.code(404).headers(pageHeaders).send(page)
}

/** The first page: where each reader begins. */
function startOf (documentation: Documentation): Html {
  const of = (section: string) => documentation.pages().filter((page) => page.section === section && page.listed)
  const cards = of('Begin').map(({ address, title, markdown }) =>
    html`<li><h2><a href="/docs/${address}">${title}</a></h2><p>${firstSentence(markdown)}</p></li>`
  )
  const links = (section: string): Html =>
    html`<ul>${
      of(section).map(({ address, title, markdown }) => html`<li><a href="/docs/${address}">${title}</a>: ${firstSentence(markdown)}</li>`)
    }</ul>\n`
  return html`<h1>Documentation</h1>
<p>One request says what to send. Document Dispatch makes the document and hands it to the vendor that was chosen: it sends nothing twice,
loses nothing, and tells how it ended.</p>
<ul class="cards">${cards}</ul>
<h2>Services</h2>
${links('Services')}<h2>Guides</h2>
${links('Guides')}`
}

/** The first page for French readers: what there is in their language. */
function frenchStartOf (documentation: Documentation): Html {
  const cards = documentation.pages().filter(({ language }) => language === 'fr').map(({ address, title, markdown }) =>
    html`<li><h2><a href="/docs/${address}">${title}</a></h2><p>${firstSentence(markdown)}</p></li>`
  )
  return html`<h1>Documentation en français</h1>
<p>Pour les personnes qui travaillent dans la console. Les pages pour les programmes sont en <a href="/docs/en" hreflang="en">anglais</a>.</p>
<ul class="cards">${cards}</ul>
`
}

/** The first sentence below the title. */
function firstSentence (markdown: string): string {
  const text = plainOf(markdown.replace(/^# .+\n+/, '').split('\n\n')[0] ?? '')
  return /^.*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text.replace(/:$/, '.')
}

const ofSearch = {
  en: { title: 'Search', empty: 'Type a few words above.', nothing: 'Nothing has these words:' },
  fr: { title: 'Recherche', empty: 'Tapez quelques mots ci-dessus.', nothing: 'Rien ne contient ces mots :' }
} as const satisfies Readonly<Record<Language, object>>

/** What a search shows. Who reads French gets what is in French first. */
function foundOf (query: string, documentation: Documentation, language: Language): { title: string, main: Html } {
  const { title: heading, empty, nothing } = ofSearch[language]
  const isFrench = ({ address }: { address: string }) => address.startsWith('/docs/fr/')
  const all = documentation.search(query, language === 'fr' ? Infinity : maxFound)
  const found = language === 'fr' ? [...all.filter(isFrench), ...all.filter((one) => !isFrench(one))].slice(0, maxFound) : all
  const list = found.map((part) => {
    const { title, address, text } = part
    const plain = plainOf(text)
    const excerpt = plain === '' ? [] : html`<p>${plain.slice(0, shown)}${plain.length > shown ? '…' : ''}</p>`
    return html`<li lang="${isFrench(part) ? 'fr' : 'en'}"><a href="${address}">${title}</a>${excerpt}</li>`
  })
  const main = html`<h1>${heading}</h1>
${
    query === '' ? html`<p>${empty}</p>` : found.length === 0
      ? html`<p>${nothing} ${query}</p>`
      : html`<ul class="found">${list}</ul>`
  }
`
  return { title: heading, main }
}

import { DispatchError } from '@dispatch/contract'
import { type Html, html, permissionsPolicies } from '@dispatch/plugins/routes'
import type { FastifyPluginCallback, FastifyReply } from 'fastify'
import { hash } from 'node:crypto'
import type { Suppressions } from '../service/suppressions.ts'
import { words as en } from '../words.en.ts'
import { words as fr } from '../words.fr.ts'

const tags = ['Suppressions']
const Page = { description: 'A page for the recipient.', content: { 'text/html': { schema: { type: 'string' } } } }

type Requested = { Querystring: Readonly<Record<string, unknown>> }

/** Characters of a body, which nobody reads: a click of a mail program has 26 (RFC 8058, 3.1). */
const bodyLimit = 4_096

/**
 * Where a recipient unsubscribes: by a click of their mail program, which is a POST, or on the page. Whoever only opens the address, as
 * programs that look at links do, changes nothing.
 */
export const unsubscribeRoutes: FastifyPluginCallback<{ suppressions: Suppressions }> = (app, { suppressions }, done) => {
  app.addContentTypeParser(['application/x-www-form-urlencoded', 'multipart/form-data'], { parseAs: 'string' },
    (_request, _body, parsed) => {
      parsed(null)
    })

  app.get<Requested>('/unsubscribe', {
    config: { errors: ['not_found'] },
    schema: { operationId: 'showUnsubscription', tags, summary: 'The page on which a recipient unsubscribes.', response: { 200: Page } }
  }, async ({ query, headers }, reply) => {
    const words = wordsFor(headers['accept-language'])
    const token = tokenIn(query)
    const found = await suppressions.subscription(token)
    if (found === undefined) throw new DispatchError('not_found', words.unsubscribeUnknown)
    const { company, address } = found
    return send(reply, words, fill(words.unsubscribeAsk, { company, address }), html`<form method="post" action="/unsubscribe?t=${token}">
<button>${words.unsubscribeButton}</button></form>`)
  })

  app.post<Requested>('/unsubscribe', {
    bodyLimit,
    config: { errors: ['not_found', 'forbidden'] },
    schema: {
      operationId: 'unsubscribe',
      tags,
      summary: 'Unsubscribes a recipient, by one click of their mail program (RFC 8058).',
      response: { 200: Page }
    }
  }, async ({ query, headers }, reply) => {
    const words = wordsFor(headers['accept-language'])
    const found = await suppressions.subscription(tokenIn(query))
    if (found === undefined) throw new DispatchError('not_found', words.unsubscribeUnknown)
    await suppressions.unsubscribe(found)
    return send(reply, words, fill(words.unsubscribeDone, found), html``)
  })
  done()
}

type Words = { [Name in keyof typeof en]: string } & { language: string }

function wordsFor (accepted = ''): Words {
  return /^\s*fr\b/i.test(accepted) ? { ...fr, language: 'fr' } : { ...en, language: 'en' }
}

function tokenIn ({ t }: Readonly<Record<string, unknown>>): string {
  return typeof t === 'string' ? t : ''
}

function fill (sentence: string, { company, address }: { company: string, address: string }): string {
  return sentence.replace(/\{(company|address)\}/g, (_, name: string) => name === 'company' ? company : address)
}

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { margin: 4rem auto; padding: 0 1.5rem; max-width: 36rem }
button { font: inherit; padding: .5rem 1rem }
`

/** The page is its own style and nothing else. Its address must not be told to anybody: it unsubscribes. */
const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; base-uri 'none'; form-action 'self'; ` +
    'frame-ancestors \'none\'',
  'permissions-policy': permissionsPolicies.other,
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
  'cache-control': 'no-store'
}

function send (reply: FastifyReply, words: Words, sentence: string, form: Html): FastifyReply {
  return reply.headers(pageHeaders).send(html`<!doctype html>
<html lang="${words.language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${words.unsubscribeTitle}</title>
<style>${{ markup: style }}</style></head>
<body><main><h1>${words.unsubscribeTitle}</h1><p>${sentence}</p>${form}</main></body>
</html>
`.markup)
}

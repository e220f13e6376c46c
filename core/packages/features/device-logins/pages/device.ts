import { ApiRefused, errorOf, facts, type Html, html, notice, optionsFor, page, radioField, said, termFields, termsIn, textField, time,
  type Typed, wrongOf } from '@dispatch/plugins/console'
import type { FastifyPluginCallback, FastifyRequest } from 'fastify'
import type { DeviceLoginView } from '../contract/device-logins.ts'
import { type Visit, visitOf } from './words.ts'

type Posted = { Body: URLSearchParams }

const at = '/console/device'
/** In milliseconds: for how long a key is granted unless the person says otherwise. */
const usual = 90 * 86_400_000

/** Where a person types the code of a command, sees what it asks for, and grants or declines it. */
export const devicePages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: { granted?: unknown } }>('/device', (request, reply) => {
    const visit = visitOf(request)
    return reply.page(codePage(visit, request.query.granted === undefined ? html`` : granted(visit)))
  })

  app.post<Posted>('/device', async (request, reply) => {
    const { visit, code, login } = await found(request)
    if (login === undefined) return reply.code(404).page(codePage(visit, unknown(visit)))
    return reply.page(decisionPage(visit, code, login))
  })

  app.post<Posted>('/device/grant', async (request, reply) => {
    const [visit, { body }] = [visitOf(request), request]
    const made = await visit.api.send('POST', '/api/v1/device-logins/grant', { userCode: body.get('code') ?? '', ...grantIn(body) })
    if (made.ok) return reply.redirect(`${at}?granted=1`, 303)
    const { code, login } = await found(request)
    if (login === undefined) return reply.code(404).page(codePage(visit, unknown(visit)))
    return reply.code(made.status).page(decisionPage(visit, code, login, { body, error: errorOf(made) }))
  })

  app.post<Posted>('/device/decline', async (request, reply) => {
    const visit = visitOf(request)
    const declined = await visit.api.send('POST', '/api/v1/device-logins/decline', { userCode: request.body.get('code') ?? '' })
    if (!declined.ok && declined.status !== 404) throw new ApiRefused(declined)
    return reply.page(codePage(visit, notice('good', html`<p>${visit.words.deviceDeclined}</p>`)))
  })
  done()
}

/** The login that a form names; undefined where none waits. */
async function found (request: FastifyRequest<Posted>): Promise<{ visit: Visit, code: string, login: DeviceLoginView | undefined }> {
  const [visit, code] = [visitOf(request), (request.body.get('code') ?? '').slice(0, 20)]
  const read = await visit.api.send<DeviceLoginView>('POST', '/api/v1/device-logins/read', { userCode: code })
  if (!read.ok && read.status !== 404) throw new ApiRefused(read)
  return { visit, code, login: read.ok ? read.body : undefined }
}

function unknown ({ words }: Visit): Html {
  return notice('bad', html`<p>${words.deviceUnknown}</p>`)
}

function granted ({ words }: Visit): Html {
  return notice('good', html`<p>${words.deviceGranted} <a href="/console/developers">${words.keys}</a></p>`)
}

function codePage (visit: Visit, message: Html = html``): Html {
  const { words } = visit
  const main = html`${message}<section aria-label="${words.device}"><p>${words.deviceIntro}</p>
<form method="post" action="${at}" class="stack">${
    textField({ name: 'code', label: words.deviceCode, help: words.deviceCodeHelp, autocomplete: 'off', required: true })
  }<div class="actions"><button>${words.deviceNext}</button></div></form></section>`
  return page({ ...visit, path: at }, { title: words.device, section: 'developers', main })
}

function decisionPage (visit: Visit, code: string, login: DeviceLoginView, typed?: Typed): Html {
  const { words } = visit
  const { client, scopes, address, sameAddress, createdAt, expiresAt } = login
  const valueOf = (name: string, otherwise: string): string => typed?.body.get(name) ?? otherwise
  const main = html`<section aria-label="${words.deviceAsks}">${notice('warn', html`<p>${words.deviceWarning}</p>`)}${
    sameAddress ? html`` : notice('bad', html`<p>${words.deviceElsewhere}</p>`)
  }${
    facts([
      [words.deviceCode, html`<code>${shownCode(code)}</code>`],
      [words.deviceClient, html`<code>${client}</code>`],
      [words.deviceAddress, html`<code>${address}</code>`],
      [words.deviceBegun, time(createdAt)],
      [words.deviceExpires, time(expiresAt)]
    ])
  }</section><section aria-labelledby="grant"><h2 id="grant">${words.keyNew}</h2>${said(words, typed, 'name', 'scopes', 'expiresAt')}
<form method="post" action="${at}/grant" novalidate><input type="hidden" name="code" value="${code}">${
    textField({ name: 'name', label: words.deviceKeyName, value: valueOf('name', client), wrong: wrongOf(words, typed, '/name') })
  }${
    radioField({ name: 'mode', label: words.keyMode, value: valueOf('mode', 'test'), options: optionsFor(words, 'mode', ['test', 'live']) })
  }${
    termFields(visit, typed, {
      scopes: { label: words.deviceScopes, help: words.deviceScopesHelp, values: scopes, offered: 'live', chosen: 'test' },
      expiresAt: new Date(new Date(createdAt).getTime() + usual).toISOString().slice(0, 10)
    })
  }<div class="actions"><button>${words.deviceGrant}</button></div></form>
<form method="post" action="${at}/decline"><input type="hidden" name="code" value="${code}">
<div class="actions"><button class="second">${words.deviceDecline}</button></div></form></section>`
  return page({ ...visit, path: at }, { title: words.deviceAsks, section: 'developers', main })
}

/** A code that was found, as the command shows it. */
function shownCode (typed: string): string {
  const letters = typed.toUpperCase().replaceAll(/[^A-Z]/g, '')
  return `${letters.slice(0, 4)}-${letters.slice(4)}`
}

/** What the form grants. */
function grantIn (body: URLSearchParams): object {
  return { name: (body.get('name') ?? '').trim(), mode: (body.get('mode') ?? '').trim(), ...termsIn(body) }
}

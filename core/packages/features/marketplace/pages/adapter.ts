import { ApiRefused, badge, type ConfirmRequest, fill, type Html, html, notice, page, reasonOf, type Refusal, sentences, settingsFields,
  table, time, withQuery } from '@dispatch/plugins/console'
import type { FastifyPluginCallback } from 'fastify'
import type { AdapterDetail } from '../contract/marketplace.ts'
import { actionSections, type Companies } from './adapter-actions.ts'
import { ending, isEnding, offeredTo } from './ending.ts'
import { conformanceOf, rowsOf } from './rows.ts'
import { type Visit, visitOf, type Words } from './words.ts'

type Named = { Params: { code: string } }
type Posted = Named & { Body: URLSearchParams }

/** What an operator does with an adapter: the word in the path of the page, the request to the API, and what is said afterwards. */
const actions = {
  install: { method: 'POST', path: '/install', said: 'adapterInstalled', bodyOf: versionOf },
  upgrade: { method: 'POST', path: '/upgrade', said: 'adapterUpgraded', bodyOf: versionOf },
  rollback: { method: 'POST', path: '/rollback', said: 'adapterRolledBack', bodyOf: undefined },
  enable: { method: 'POST', path: '/enable', said: 'adapterEnabled', bodyOf: undefined },
  disable: { method: 'POST', path: '/disable', said: 'adapterDisabled', bodyOf: undefined },
  offer: { method: 'PUT', path: '/offer', said: 'adapterOffered', bodyOf: offerOf },
  remove: { method: 'DELETE', path: '', said: 'adapterRemoved', bodyOf: undefined }
} as const

/** An adapter of the marketplace: what it is and asks for, and what an operator can do with it. */
export const adapterPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<Named & { Querystring: Readonly<Record<string, unknown>> }>('/marketplace/:code', async (request, reply) => {
    const visit = visitOf(request)
    const { done: word, version, companies } = request.query
    const said = Object.entries(actions).find(([name]) => name === word)?.[1].said
    return reply.page(await view(visit, request.params.code, {
      said: said === undefined ? html`` : notice('good', html`<p>${visit.words[said]}</p>`),
      version: typeof version === 'string' ? version : undefined,
      after: typeof companies === 'string' ? companies : ''
    }))
  })

  for (const [name, { method, path, bodyOf }] of Object.entries(actions)) {
    const config = isEnding(name) ? { confirms: (requested: ConfirmRequest) => ending(requested, name) } : {}
    app.post<Posted>(`/marketplace/:code/${name}`, { config }, async (request, reply) => {
      const { params: { code }, body } = request
      const visit = visitOf(request)
      const force = body.get('force') ?? undefined
      const answer = await visit.api.send(method, withQuery(`/api/v1/marketplace/${encodeURIComponent(code)}${path}`, { force }),
        bodyOf?.(body))
      if (!answer.ok) {
        return reply.code(answer.status).page(await refused(visit, answer, { code, version: body.get('version') ?? undefined }))
      }
      return reply.redirect(name === 'remove' ? '/console/marketplace?removed=1' : `/console/marketplace/${code}?done=${name}`, 303)
    })
  }
  done()
}

/** A version with the consent that its form has shown. */
function versionOf (body: URLSearchParams): object {
  return { version: body.get('version') ?? '', consent: { hosts: body.getAll('host'), services: body.getAll('service') } }
}

function offerOf (body: URLSearchParams): object {
  return { companies: offeredTo(body) ?? 'all' }
}

/** The page of the adapter again, with why it stays as it was. */
function refused (visit: Visit, refusal: Refusal, { code, version }: { code: string, version: string | undefined }): Promise<Html> {
  if (refusal.status === 403 || refusal.status === 404) throw new ApiRefused(refusal)
  const said = notice('bad', html`<p>${visit.words.adapterUnchanged}</p>${sentences(visit.words, refusal.error)}`)
  return view(visit, code, { said, version })
}

/** `after`: the company after which the list of those begins to which it can be offered. */
type Shown = { said: Html, version: string | undefined, after?: string }

async function view (visit: Visit, code: string, { said, version, after = '' }: Shown): Promise<Html> {
  const { words, api, actor: { role } } = visit
  const path = `/api/v1/marketplace/${encodeURIComponent(code)}`
  const isOperator = role === 'operator'
  const [adapter, companies] = await Promise.all([
    api.read<AdapterDetail>(path),
    isOperator ? api.read<Companies>(withQuery('/api/v1/companies', { limit: '100', cursor: after })) : { data: [], nextCursor: null }
  ])
  const main = html`${said}${about(words, adapter, role)}${isOperator ? actionSections(words, adapter, { companies, version }) : html``}${
    versions(words, adapter, isOperator)
  }${settings(words, adapter)}`
  return page({ ...visit, path: `/console/marketplace/${adapter.code}` }, { title: adapter.name, section: 'marketplace', main })
}

function about (words: Words, adapter: AdapterDetail, role: Visit['actor']['role']): Html {
  const { code, state, reason, enabled, problem } = adapter
  return html`<section aria-labelledby="about"><h2 id="about">${code} ${badge(words, 'state', state)}${
    enabled === false ? html` <span class="badge warn">${words.disabled}</span>` : html``
  }</h2>
${reason === undefined ? html`` : notice('bad', html`<p>${words.withdrawnFor}</p><p>${reasonOf(words, { reason })}</p>`)}${
    problem === undefined ? html`` : notice('warn', sentences(words, problem))
  }
<dl>${rowsOf(words, adapter).map(([title, value]) => html`<dt>${title}</dt><dd>${value}</dd>\n`)}</dl>${
    role === 'admin' ? html`<hr><p><a href="/console/providers/${code}">${words.toSettings}</a></p>` : html``
  }</section>`
}

function versions (words: Words, { code, version: now, versions: all, enabled }: AdapterDetail, isOperator: boolean): Html {
  const rows = all.map(({ version, at, conformance, registry, replayed, changelog, withdrawn }) =>
    html`<tr><th scope="row">${version}${
      version === now && enabled !== undefined ? html` <span class="badge good">${words.runs}</span>` : html``
    }
</th><td>${time(at)}</td><td>${conformanceOf(words, conformance)}${
      registry === undefined ? html`` : html`<div class="quiet">${registryLine(words, registry)}</div>`
    }${
      replayed === undefined
        ? html``
        : html`<div class="quiet">${replayed === 0 ? words.replayedNone : fill(words.replayed, { n: replayed })}</div>`
    }</td><td>${
      changelog === undefined || changelog === '' ? html`<span class="quiet">${words.changelogNone}</span>` : html`<pre>${changelog}</pre>`
    }${withdrawn === undefined ? html`` : html`<p class="wrong">${reasonOf(words, withdrawn)}</p>`}</td><td>${
      isOperator && withdrawn === undefined && !(version === now && enabled !== undefined)
        ? html`<a href="/console/marketplace/${code}?version=${encodeURIComponent(version)}" aria-label="${
          fill(words.chooseVersionFull, { version })
        }">${words.chooseVersion}</a>`
        : html``
    }</td></tr>\n`
  )
  const head = [words.version, words.released, words.conformance, words.changelog, words.action]
  return html`<section aria-labelledby="versions"><h2 id="versions">${words.versions}</h2>${table(words.versions, head, rows)}</section>`
}

/** The registry that a version came from, and what it says of it. */
function registryLine (
  words: Words,
  { address, signature, provenance }: NonNullable<AdapterDetail['versions'][number]['registry']>
): string {
  const from = [provenance?.repository, provenance?.commit].filter((part) => part !== undefined).join(' ')
  return [
    fill(words.fromRegistry, { registry: address }),
    ...signature === 'verified' ? [words.registrySigned] : [],
    ...from === '' ? [] : [fill(words.registryBuilt, { from })]
  ].join(' ')
}

/** The form as a company will see it, to look at. */
function settings (words: Words, { settings: form }: AdapterDetail): Html {
  if (form === undefined) return html``
  const isEmpty = Object.keys((form as { properties?: object }).properties ?? {}).length === 0
  return html`<section aria-labelledby="settings"><h2 id="settings">${words.settings}</h2>${
    isEmpty
      ? html`<p>${words.settingsEmpty}</p>`
      : html`<details><summary>${words.settingsPreview}</summary><fieldset disabled>${
        settingsFields(words, form, { values: {}, problems: [] })
      }</fieldset></details>`
  }</section>`
}

import { type Breakers, destinationNames, type Host, type Manifest, settingsInHosts } from '@dispatch/host'
import { type ProvidedName, providedNames, services } from '@dispatch/services'
import type { FastifyPluginCallback } from 'fastify'
import { hash } from 'node:crypto'
import { type Html, html } from '../html.ts'
import { permissionsPolicies } from '../permissions-policy.ts'
import { columnsOf } from './columns.ts'
import { supportOf } from './support.ts'

/**
 * `/docs/providers`: what each installed provider supports that is offered to all companies, one table a service, written from the
 * manifests.
 */
export const supportPage: FastifyPluginCallback<{ host: Host, breakers: Pick<Breakers, 'failing'> }> = (app, { host, breakers }, done) => {
  app.get('/docs/providers', { config: { public: true }, schema: { hide: true } }, async (_request, reply) => {
    const manifests = host.entries().flatMap((entry) =>
      entry.state === 'installed' && entry.companies === undefined ? [entry.manifest] : []
    )
    return reply.headers(headers).send(pageOf(manifests, breakers.failing()).markup)
  })
  done()
}

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { margin: 2rem auto; padding: 0 1.5rem; max-width: 75rem }
h2 { margin: 2.5rem 0 0 }
p { margin: .25rem 0 1rem; max-width: 45rem }
div { overflow-x: auto }
table { border-collapse: collapse; min-width: 100%; font-size: .875rem }
th, td { padding: .5rem 1rem .5rem 0; border-bottom: 1px solid #8886; text-align: start; vertical-align: top }
thead th { font-weight: normal; white-space: nowrap; color: light-dark(#595959, #aaaaaa) }
tbody th small { display: block; font-weight: normal; font-family: ui-monospace, monospace }
`

/** The page is its own style and nothing else: no script, nothing from elsewhere. */
const policy =
  `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors ` +
  `'none'`

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': policy,
  'permissions-policy': permissionsPolicies.other,
  'cache-control': 'no-cache'
}

function pageOf (manifests: readonly Manifest[], failing: Pick<ReadonlySet<string>, 'has'>): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>What each provider supports · Document Dispatch</title>
<style>${{ markup: style }}</style>
</head>
<body>
<main>
<h1>What each provider supports</h1>
<p>A request that asks a provider for more is refused with a sentence, before anything is made or charged. “—” sets no limit.
With forms and health, the same is at <code>GET /api/v1/providers</code>; the routes are at <a href="/docs/reference">/docs/reference</a>, guides at <a
href="/docs">/docs</a>.</p>
${providedNames.map((name) => sectionOf(name, manifests))}
${reachSection(manifests, failing)}
</main>
</body>
</html>
`
}

function sectionOf (name: ProvidedName, manifests: readonly Manifest[]): Html {
  const columns = columnsOf(name)
  const rows = manifests.flatMap((manifest) => {
    const support = supportOf(manifest, name)
    return support === undefined ? [] : [html`<tr>${rowHead(manifest)}${columns.map(({ cell }) => html`<td>${cell(support)}</td>`)}</tr>\n`]
  })
  return html`<section aria-labelledby="${name}">
<h2 id="${name}">${name}</h2>
<p>${services[name].summary}</p>
${
    rows.length === 0 ? html`<p>No installed provider does it.</p>` : html`<div role="region" aria-labelledby="${name}" tabindex="0">
<table>
<thead><tr><th scope="col">provider</th>${columns.map(({ title }) => html`<th scope="col">${title}</th>`)}</tr></thead>
<tbody>
${rows}</tbody>
</table>
</div>`
  }
</section>
`
}

/** What each provider reaches, what it asks a company for, and whether its vendor fails for somebody. */
function reachSection (manifests: readonly Manifest[], failing: Pick<ReadonlySet<string>, 'has'>): Html {
  const rows = manifests.map((manifest) => {
    const health = failing.has(manifest.code) ? 'failing' : 'ok'
    const cells = [manifest.version, health, hostsOf(manifest), settingsOf(manifest)]
    return html`<tr>${rowHead(manifest)}${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`
  })
  return html`<section aria-labelledby="reach">
<h2 id="reach">health, hosts and settings</h2>
<p>A provider reaches these hosts and no others. It is “failing” while its vendor has failed several times in a row for a company,
in the process that shows this page. How it is for your own company stands in <code>health</code> at
<code>GET /api/v1/providers</code>.</p>
<div role="region" aria-labelledby="reach" tabindex="0">
<table>
<thead><tr><th scope="col">provider</th><th scope="col">version</th><th scope="col">health</th><th scope="col">hosts</th><th scope="col">settings</th></tr></thead>
<tbody>
${rows}</tbody>
</table>
</div></section>
`
}

function hostsOf ({ hosts, settings }: Manifest): string {
  const parts = settingsInHosts(hosts)
  const own = destinationNames(settings).filter((name) => !parts.includes(name)).map((name) => `the setting ${name}`)
  return [...hosts, ...own].join(', ') || 'none'
}

function settingsOf ({ settings: { properties, required = [] } }: Manifest): string {
  const names = Object.keys(properties).map((name) => required.includes(name) ? name : `${name} (optional)`)
  return names.join(', ') || 'none'
}

function rowHead ({ code, name, docs }: Manifest): Html {
  return html`<th scope="row">${
    docs === undefined ? name : html`<a href="${docs}" rel="noreferrer">${name}</a>`
  }<small>${code}</small></th>`
}

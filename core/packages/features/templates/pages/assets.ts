import { ApiRefused, type Confirmation, type ConfirmRequest, fill, type Html, html, notice, page, type Refusal, sentences, table, textField,
  time, withQuery } from '@dispatch/plugins/console'
import type { FastifyPluginCallback, FastifyReply } from 'fastify'
import type { AssetUseView, AssetView } from '../contract/templates.ts'
import { chosenPicture, pictureFormLimit as bodyLimit, takesPictures } from './picture-form.ts'
import { type Visit, visitOf, type Words } from './words.ts'

type Named = { Params: { name: string } }
type Listed = { data: AssetView[] }

/** All of them: a company has a hundred at most. */
const all = '/api/v1/assets?limit=100'

/** The pictures of the company, which its templates show. */
export const assetPages: FastifyPluginCallback = (app, _options, done) => {
  takesPictures(app)

  app.get<{ Querystring: Readonly<Record<string, unknown>> }>('/assets', async (request, reply) => {
    const visit = visitOf(request)
    const said = request.query['removed'] === undefined ? html`` : notice('good', html`<p>${visit.words.assetRemoved}</p>`)
    return reply.page(await listView(visit, said))
  })

  app.post<{ Body: URLSearchParams }>('/assets', { bodyLimit }, async (request, reply) => {
    const visit = visitOf(request)
    const name = request.body.get('name') ?? ''
    const added = await visit.api.send<AssetView>('POST', '/api/v1/assets', { name, image: chosenPicture(request) })
    if (added.ok) return reply.redirect(`/console/assets/${added.body.name}?saved=1`, 303)
    return reply.code(added.status).page(await listView(visit, refused(visit.words, added), name))
  })

  app.get<Named & { Querystring: Readonly<Record<string, unknown>> }>('/assets/:name', async (request, reply) => {
    const visit = visitOf(request)
    const said = request.query['saved'] === undefined ? html`` : notice('good', html`<p>${visit.words.assetSaved}</p>`)
    return show(visit, reply, request.params.name, said)
  })

  app.post<Named>('/assets/:name', { bodyLimit }, async (request, reply) => {
    const visit = visitOf(request)
    const { name } = request.params
    const replaced = await visit.api.send('PUT', apiPath(name), { image: chosenPicture(request) })
    if (replaced.ok) return reply.redirect(`/console/assets/${encodeURIComponent(name)}?saved=1`, 303)
    return show(visit, reply.code(replaced.status), name, refused(visit.words, replaced))
  })

  app.post<Named>('/assets/:name/remove', { config: { confirms: removal } }, async (request, reply) => {
    const removed = await visitOf(request).api.send('DELETE', apiPath(request.params.name))
    if (!removed.ok) throw new ApiRefused(removed)
    return reply.redirect('/console/assets?removed=1', 303)
  })
  done()
}

function apiPath (name: string): string {
  return `/api/v1/assets/${encodeURIComponent(name)}`
}

/** Asks before a picture is removed: how many templates name it. */
async function removal (request: ConfirmRequest): Promise<Confirmation> {
  const { words, api } = visitOf(request)
  const { name } = request.params
  const { data } = await api.read<{ data: AssetUseView[] }>(`${apiPath(name)}/templates`)
  return {
    title: `${words.assetRemove}${words.colon}${name}`,
    says: [words.assetRemoveIntro],
    touches: [[words.assetUses, data.length]],
    button: words.assetRemove,
    back: `/console/assets/${encodeURIComponent(name)}`
  }
}

/** Those who may not write are told so by a page of its own. */
function refused (words: Words, refusal: Refusal): Html {
  if (refusal.status === 401 || refusal.status === 403) throw new ApiRefused(refusal)
  return notice('bad', sentences(words, refusal.error, { labelOf: (name) => name === 'image' ? words.assetFile : undefined }))
}

async function listView (visit: Visit, said: Html, name = ''): Promise<Html> {
  const { api, words, actor: { role } } = visit
  const { data } = await api.read<Listed>(all)
  const main = html`<p><a href="/console/templates">${words.templateBack}</a></p>${said}<p>${words.assetsIntro}</p>
<section aria-labelledby="list"><h2 id="list">${words.assets}</h2>${
    data.length === 0 ? html`<p>${words.assetsNone}</p>` : assetTable(words, data)
  }</section>${role === 'admin' ? addition(words, name) : html``}`
  return page({ ...visit, path: '/console/assets' }, { title: words.assets, section: 'templates', main })
}

function assetTable (words: Words, assets: readonly AssetView[]): Html {
  return table(words.assets, [words.name, words.assetType, words.assetPixels, words.assetSize, words.created],
    assets.map((asset) =>
      html`<tr><th scope="row"><a href="/console/assets/${asset.name}">${asset.name}</a></th><td>${asset.type}</td><td class="count">${
        pixelsOf(asset)
      }</td><td class="count">${kilobytesOf(words, asset)}</td><td>${time(asset.createdAt)}</td></tr>
`
    ))
}

function pixelsOf ({ width, height }: AssetView): string {
  return `${String(width)} × ${String(height)}`
}

function kilobytesOf (words: Words, { size }: AssetView): string {
  return new Intl.NumberFormat(words.code, { style: 'unit', unit: 'kilobyte', maximumFractionDigits: 1 }).format(size / 1000)
}

function addition (words: Words, name: string): Html {
  return html`<section aria-labelledby="add"><h2 id="add">${words.assetAdd}</h2>
<form method="post" action="/console/assets" enctype="multipart/form-data">${
    textField({ name: 'name', label: words.name, value: name, help: words.assetNameHelp, required: true })
  }${fileField(words)}<div class="actions"><button>${words.assetAdd}</button></div></form></section>`
}

function fileField (words: Words): Html {
  return html`<div class="field"><label for="f-image">${words.assetFile}</label><p class="help" id="f-image-help">${words.assetFileHelp}</p>
<input id="f-image" name="image" type="file" accept="image/png,image/jpeg" required aria-describedby="f-image-help"></div>`
}

async function show (visit: Visit, reply: FastifyReply, name: string, said: Html): Promise<FastifyReply> {
  const { api, words, actor: { role } } = visit
  const [file, uses, { data }] = await Promise.all([
    api.file(apiPath(name)),
    api.send<{ data: AssetUseView[] }>('GET', `${apiPath(name)}/templates`),
    api.read<Listed>(all)
  ])
  if (!file.ok) throw new ApiRefused(file)
  if (!uses.ok) throw new ApiRefused(uses)
  const { bytes, contentType } = file.body
  const asset = data.find((known) => known.name === name)
  const at = `/console/assets/${encodeURIComponent(name)}`
  const main = html`<p><a href="/console/assets">${words.assetBack}</a></p>${said}
<section aria-labelledby="picture"><h2 id="picture">${words.assetPicture}</h2>
<p><img class="picture" src="data:${contentType};base64,${bytes.toString('base64')}" alt="${fill(words.assetAlt, { name })}"></p>
<dl><dt>${words.assetType}</dt><dd>${contentType}</dd>${asset === undefined ? html`` : facts(words, asset)}
<dt>${words.assetInTemplate}</dt><dd><code>asset:${name}</code></dd></dl></section>
<section aria-labelledby="uses"><h2 id="uses">${words.assetUses}</h2>${usesList(words, uses.body.data)}</section>${
    role === 'admin' ? changes(words, at) : html``
  }`
  return reply.page(page({ ...visit, path: at }, { title: name, section: 'templates', main }))
}

function facts (words: Words, asset: AssetView): Html {
  return html`<dt>${words.assetPixels}</dt><dd>${pixelsOf(asset)}</dd><dt>${words.assetSize}</dt><dd>${kilobytesOf(words, asset)}</dd>
<dt>${words.created}</dt><dd>${time(asset.createdAt)}</dd>`
}

export function usesList (words: Words, uses: readonly AssetUseView[]): Html {
  if (uses.length === 0) return html`<p>${words.assetUnused}</p>`
  return html`<ul>${
    uses.map(({ templateId, name, version, published }) =>
      html`<li><a href="${withQuery(`/console/templates/${String(templateId)}`, { version: String(version) })}">${name}</a>, ${
        fill(words.templateVersion, { version })
      }${published ? html`` : html` <small>(${words.version_draft})</small>`}</li>
`
    )
  }</ul>`
}

function changes (words: Words, at: string): Html {
  return html`<section aria-labelledby="replace"><h2 id="replace">${words.assetReplace}</h2><p>${words.assetKept}</p>
<form method="post" action="${at}" enctype="multipart/form-data">${
    fileField(words)
  }<div class="actions"><button>${words.assetReplace}</button></div></form></section>
<section aria-labelledby="remove"><h2 id="remove">${words.assetRemove}</h2><p>${words.assetRemoveIntro}</p>
<form method="post" action="${at}/remove"><button class="danger">${words.assetRemove}</button></form></section>`
}

import { ApiRefused, checkField, choiceField, editorScript, fill, type Html, html, linesOfSaid, notice, outlives, page, problemsOf,
  type Refusal, sendPreview, sendRefusedPreview, sendToScript, sentences, templateName, textOfSaid, withQuery, withSubject,
  type Words as ConsoleWords } from '@dispatch/plugins/console'
import type { FastifyPluginCallback, FastifyReply } from 'fastify'
import { type BrandBody, brandFonts, type BrandView } from '../contract/brand.ts'
import { type AssetView, savedFormats, shownFormats, type TemplateView } from '../contract/templates.ts'
import { chosenPicture, pictureFormLimit as bodyLimit, takesPictures } from './picture-form.ts'
import { type Visit, visitOf, type Words, wordsOf } from './words.ts'

type Query = Readonly<Record<string, unknown>>
type Posted = { Body: URLSearchParams }

const path = '/console/company/brand'
const api = '/api/v1/company/brand'

/** The colours of a brand, and what a picker shows before one is chosen. */
const colours = [['accent', '#1d4e89'], ['text', '#1f2933'], ['muted', '#66727f']] as const

/** On the page of the company: the way to its brand. */
export function brandLink (given: ConsoleWords): Html {
  const words = wordsOf(given)
  return html`<section aria-labelledby="brand"><h2 id="brand">${words.brand}</h2><p>${words.brandIntro}</p>
<div class="actions"><a class="button second" href="${path}">${words.brandSet}</a></div></section>`
}

/** How the documents of the reader's company look, beside a document that looks so. */
export const brandPages: FastifyPluginCallback = (app, _options, done) => {
  takesPictures(app)

  app.get<{ Querystring: Query }>('/company/brand', async (request, reply) => {
    const visit = visitOf(request)
    const { updatedAt: _, ...brand } = await visit.api.read<BrandView>(api)
    const said = request.query['saved'] === undefined ? html`` : notice('good', html`<p>${visit.words.brandSaved}</p>`)
    return show(reply, visit, brand, { said })
  })

  app.post<Posted>('/company/brand', async (request, reply) => {
    const visit = visitOf(request)
    const brand = brandIn(request.body)
    const saved = await visit.api.send('PUT', api, brand)
    if (saved.ok) return reply.redirect(`${path}?saved=1#main`, 303)
    return refused(reply, visit, brand, saved, request.body.get('template') ?? '')
  })

  // What was chosen is shown again after a sign-in.
  app.post<Posted>('/company/brand/again', async (request, reply) => {
    const { body } = request
    return show(reply, visitOf(request), brandIn(body), { template: body.get('template') ?? '' })
  })

  app.post<Posted>('/company/brand/logo', { bodyLimit }, async (request, reply) => {
    const visit = visitOf(request)
    const { updatedAt: _, ...brand } = await visit.api.read<BrandView>(api)
    const { data } = await visit.api.read<{ data: AssetView[] }>('/api/v1/assets?limit=100')
    const name = freeName(data.map((asset) => asset.name))
    const added = await visit.api.send<AssetView>('POST', '/api/v1/assets', { name, image: chosenPicture(request) })
    if (!added.ok) return refused(reply, visit, brand, added)
    const saved = await visit.api.send('PUT', api, { ...brand, logo: name })
    return saved.ok ? reply.redirect(`${path}?saved=1#main`, 303) : refused(reply, visit, brand, saved)
  })

  app.post<Posted>('/company/brand/preview', async (request, reply) => {
    const { words, ...visit } = visitOf(request)
    const made = await preview(visit, request.body)
    if (made.ok) return sendPreview(reply, withSubject(made.body, words))
    return sendRefusedPreview(reply, words, made)
  })

  // For the script, which makes previews while somebody chooses.
  app.post<Posted>('/company/brand/live', async (request, reply) => {
    const { words, ...visit } = visitOf(request)
    const made = await preview(visit, request.body)
    if (made.ok) return sendPreview(reply, withSubject(made.body, words))
    const again = made.status === 429 || made.status === 503
    const said = again ? words.liveBusy : linesOfSaid(words, made.error).join(' ')
    return sendToScript(reply, made.status, { said, again, faults: {} })
  })
  done()
}

const preview = (visit: Pick<Visit, 'api'>, body: URLSearchParams) => {
  const template = body.get('template') ?? ''
  return visit.api.file(`${api}/preview`, { brand: brandIn(body), ...template !== '' && { templateId: Number(template) } })
}

/** A name that no picture has: the first logo is called so, and others have a number. */
function freeName (taken: readonly string[]): string {
  for (let number = 1;; number++) {
    const name = number === 1 ? 'logo' : `logo-${String(number)}`
    if (!taken.includes(name)) return name
  }
}

/** What a form says. A colour counts where its box is ticked; anything else is the API's to judge. */
function brandIn (body: URLSearchParams): BrandBody {
  const [logo, font] = [body.get('logo') ?? '', body.get('font') ?? '']
  const chosen = colours.flatMap(([name]) => body.get(`${name}-own`) === null ? [] : [[name, body.get(name) ?? '']])
  return { ...Object.fromEntries(chosen), ...logo !== '' && { logo }, ...font !== '' && { font } } as BrandBody
}

type Shown = { said?: Html, refusal?: Refusal, template?: string }

async function refused (reply: FastifyReply, visit: Visit, brand: BrandBody, refusal: Refusal, template = ''): Promise<FastifyReply> {
  if (refusal.status === 401 || refusal.status === 403) throw new ApiRefused(refusal)
  const { words } = visit
  const labels: Readonly<Record<string, string>> = { image: words.assetFile, logo: words.brandLogo }
  const said = notice('bad', sentences(words, refusal.error, { labelOf: (name) => labels[name] }))
  return show(reply.code(refusal.status), visit, brand, { said, refusal, template })
}

async function show (reply: FastifyReply, visit: Visit, brand: BrandBody, { said = html``, refusal, template = '' }: Shown) {
  const { words } = visit
  const [assets, templates, script] = await Promise.all([
    visit.api.read<{ data: AssetView[] }>('/api/v1/assets?limit=100'),
    visit.api.read<{ data: TemplateView[] }>(withQuery('/api/v1/templates', { status: 'published', limit: '100' })),
    editorScript('text').catch((error: unknown) => {
      reply.log.error({ err: error }, 'the editor of the console cannot be built')
    })
  ])
  const isAdmin = visit.actor.role === 'admin'
  const main = html`<p><a href="/console/company">${words.brandBack}</a></p>${said}
<section class="wide" aria-label="${words.brand}"><p>${words.brandIntro}</p><form method="post" action="${path}"${
    script === undefined || !isAdmin ? html`` : html` data-editor="${script.path}" data-live="${path}/live"`
  }>${isAdmin ? outlives(visit, `${path}/again`) : html``}<div class="workbench"><div>${
    fields(words, brand, { logos: assets.data, refusal })
  }${
    isAdmin ? html`<div class="actions"><button>${words.brandSave}</button></div>` : html`<p class="quiet">${words.brandForAdmins}</p>`
  }</div>${isAdmin ? previewPart(words, templates.data, template) : html``}</div></form></section>${isAdmin ? upload(words) : html``}
<section aria-labelledby="details"><h2 id="details">${words.brandDetails}</h2><p>${words.brandDetailsIntro}</p>
<p><a href="/console/company/details">${words.brandDetailsSet}</a></p></section>`
  return reply.page(page({ ...visit, path }, { title: words.brand, section: 'company', main }), 'framing')
}

function fields (
  words: Words,
  brand: BrandBody,
  { logos, refusal }: { logos: readonly AssetView[], refusal: Refusal | undefined }
): Html {
  const { logo = '', font } = brand
  const names = logos.map(({ name }) => name)
  const wrong = (name: string): Html[] =>
    problemsOf(refusal?.error.details ?? [], name).map((problem) => html`${textOfSaid(words, problem)}`)
  return html`${
    choiceField({
      name: 'logo',
      label: words.brandLogo,
      help: words.brandLogoHelp,
      value: logo,
      none: words.brandNoLogo,
      options: [...logo === '' || names.includes(logo) ? [] : [logo], ...names].map((value) => ({ value, label: value })),
      wrong: wrong('logo')
    })
  }${
    colours.map(([name, usual]) =>
      html`<fieldset><legend>${words[`brand_${name}`]}</legend>${
        checkField({ name: `${name}-own`, label: words.brandOwnColour, checked: brand[name] !== undefined, wrong: wrong(name) })
      }<div class="field"><label for="f-${name}">${fill(words.brandColour, { name: words[`brand_${name}`] })}</label>
<input id="f-${name}" name="${name}" type="color" value="${brand[name] ?? usual}"></div></fieldset>`
    )
  }${
    choiceField({
      name: 'font',
      label: words.brandFont,
      value: font,
      none: words.brandTemplateFont,
      options: brandFonts.map((value) => ({ value, label: words[`brand_${value}`] }))
    })
  }`
}

function previewPart (words: Words, templates: readonly TemplateView[], chosen: string): Html {
  const title = fill(words.previewOf, { name: words.brand })
  return html`<div class="live" data-title="${title}" data-saved="${savedFormats.join(' ')}" data-shown="${shownFormats.join(' ')}"><hr>${
    choiceField({
      name: 'template',
      label: words.brandShownOn,
      value: chosen === '' ? '30' : chosen,
      options: templates.map(({ id, name }) => ({ value: String(id), label: templateName(words, { id, name }) }))
    })
  }<div class="actions"><button class="second" formaction="${path}/preview" formtarget="_blank">${words.previewOpen}</button></div>
<p class="help" role="status" data-working="${words.liveWorking}" data-ready="${words.liveReady}" data-lost="${words.liveLost}"></p></div>`
}

function upload (words: Words): Html {
  return html`<section aria-labelledby="upload"><h2 id="upload">${words.brandUpload}</h2>
<form method="post" action="${path}/logo" enctype="multipart/form-data"><div class="field"><label for="f-image">${words.assetFile}</label>
<p class="help" id="f-image-help">${words.assetFileHelp}</p>
<input id="f-image" name="image" type="file" accept="image/png,image/jpeg" required aria-describedby="f-image-help"></div>
<div class="actions"><button>${words.brandUploadSave}</button></div></form></section>`
}

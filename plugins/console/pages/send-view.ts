import { type Json, type JsonObject, memoizeByIdentity } from '@dispatch/common'
import { hash } from 'node:crypto'
import { type Html, html } from '../../html.ts'
import { checkField, choiceField, linesField, onceField, textField } from '../form/fields.ts'
import { pretty } from '../form/json.ts'
import { createRemembered } from '../form/remembered.ts'
import { withComputed } from '../form/schema.ts'
import { sentenceOf } from '../form/sentence.ts'
import { fieldsOf, type Filled } from '../form/settings.ts'
import type { DataForm } from '../form/simple.ts'
import { longTextField } from '../form/text.ts'
import { documentTypeName, fill, optionsFor, wordFor, type Words } from '../language/language.ts'
import { templateName } from '../language/template-names.ts'
import { latestVersion, withQuery } from '../session/api.ts'
import { outlives } from '../session/kept-form.ts'
import { pathIn } from '../session/mode.ts'
import { computedOf, givenServices, messageServices } from '../session/services.ts'
import type { Visit } from '../session/visit.ts'
import { copyable, notice, page } from './layout.ts'
import { datedToday } from './sample-dates.ts'
import { type ApiRequest, csharpOf, curlOf, javaOf, phpOf, pythonOf, readsFile, typescriptOf } from './send-code.ts'
import { addressOf, choosable, type Draft, pageOf, requestOf, restOf, type SentTemplate, shownOf } from './send-draft.ts'
import { withSenders } from './send-fill.ts'
import { followersOf, followingForms, givenForm, type ListedFile, namesFiles, serviceForms, withFiles } from './send-forms.ts'
import { lackFor } from './settings-state.ts'

/**
 * What a page says of a form besides what stands in it. `reported` stands beside the buttons, and is read out when it changes. `accepted`:
 * `problems` are remarks only. `filling`: where a saved recipient is chosen. `files`: those that lines can name. `once`: the number of the
 * request, where a repeat must stay the same.
 */
export type Shown = {
  said?: Html
  report?: Html
  problems?: Filled['problems']
  accepted?: boolean
  filling?: Html
  once?: string | undefined
  origin?: string
  files?: readonly ListedFile[]
}

/** Templates to choose from. `q`: words of their names that were searched for. */
export type Choice = { templates: readonly SentTemplate[], nextCursor: string | null, q: string }

/** The choice of a template, and of the service. */
export function choicePage (visit: Visit, { templates, nextCursor, q }: Choice): Html {
  const { words } = visit
  const main = html`<section aria-labelledby="choose"><h2 id="choose">${words.sendChoose}</h2>${
    q === '' && nextCursor === null && templates.length < manyTemplates ? html`` : searchForm(words, q)
  }${
    templates.length === 0 ?
      html`<p>${q === '' ? words.sendNone : words.sendNotFound}</p>` :
      html`<form method="get" action="/console/send">${
        choiceField({
          name: 'template',
          label: words.sendTemplate,
          options: templates.map(({ id, name, service, documentType }) => ({
            value: String(id),
            label: `${templateName(words, { id, name })} (${wordFor(words, 'service', service)}${
              documentType === undefined ? '' : `, ${documentTypeName(words, documentType)}`
            })`
          }))
        })
      }${
        choiceField({
          name: 'service',
          label: words.service,
          none: words.sendOwnService,
          options: optionsFor(words, 'service', Object.keys(serviceForms).filter((name) => mayUse(visit, name)))
        })
      }<div class="actions"><button>${words.sendOpen}</button></div></form>`
  }${
    nextCursor === null
      ? html``
      : html`<hr><p><a href="${withQuery('/console/send', { q, cursor: nextCursor })}" rel="next">${words.sendMore}</a></p>`
  }</section>${givenSection(visit)}`
  return page(visit, { title: words.send, section: 'send', main })
}

/** The way to the form of a document that is there already. */
function givenSection (visit: Visit): Html {
  const { words } = visit
  const able = givenServices.filter((name) => mayUse(visit, name))
  if (able.length === 0) return html``
  return html`<section aria-labelledby="have"><h2 id="have">${words.sendGiven}</h2><p class="quiet">${words.sendGivenIntro}</p>
<form method="get" action="/console/send">${
    choiceField({ name: 'given', label: words.service, options: optionsFor(words, 'service', able) })
  }<div class="actions"><button>${words.sendOpen}</button></div></form></section>`
}

function mayUse ({ actor: { services } }: Visit, service: string): boolean {
  return services.includes('*') || services.includes(service)
}

/** Fewer templates are found by their eye. */
const manyTemplates = 10

function searchForm (words: Words, q: string): Html {
  return html`<form class="filters" method="get" action="/console/send" role="search">${
    textField({ name: 'q', label: words.sendSearch, type: 'search', value: q })
  }<div class="actions"><button class="second">${words.sendSearchDo}</button></div></form><hr>`
}

/** The form of a request. */
export function draftPage (visit: Visit, draft: Draft, shown: Shown): Html {
  const { words } = visit
  const { said = html``, report: reported = html``, filling = html``, problems = [], once, origin = '', files = [] } = shown
  const { template, service } = draft
  const other = visit.mode === 'test' ? 'live' : 'test'
  const path = pageOf(draft, once)
  const request = { url: origin + addressOf(draft), body: requestOf(draft), version: latestVersion }
  const code = isBegun(draft, problems)
    ? begunCode([words.code, request], () => codeSection(words, request))
    : codeSection(words, request)
  const main = html`<p><a href="/console/send">${words.sendChoose}</a></p>${said}${
    mayUse(visit, service)
      ? html``
      : notice('warn', html`<p>${fill(words.sendNotYours, { service: wordFor(words, 'service', service) })}</p>`)
  }
<form method="post" action="/console/send" id="draft" class="split" data-asks="/console/send/check" data-reader="${
    String(visit.actor.userId)
  }" novalidate><div>
<button hidden formaction="/console/send/validate">${words.validate}</button>
<input type="hidden" name=":template" value="${
    String(template?.id ?? '')
  }"><input type="hidden" name="of" value="${service}"><input type="hidden" name=":back" value="${path}">${
    outlives(visit, '/console/send')
  }${onceField(once)}${draft.following.map((next) => html`<input type="hidden" name="then" value="${next.service}">`)}
${filling}${documentSection(words, draft, { problems, files })}${aboutSection(words, draft, { problems, files, now: visit.now })}${
    followingSections(words, draft, { problems, files })
  }${nextSection(visit, draft)}${template === undefined ? html`` : dataSection(words, draft, problems)}</div>
<section aria-labelledby="preview"><h2 id="preview">${template === undefined ? words.sendDo : words.preview}</h2><div class="actions">
<button class="second" formaction="/console/send/validate">${words.validate}</button>${
    template === undefined
      ? html``
      : html`
<button class="second" formaction="/console/send/preview" formtarget="document">${words.sendPreview}</button>`
  }${
    isEInvoice(draft)
      ? html`
<button class="second" formaction="/console/send/e-invoices" formtarget="_blank">${words.profilesShow}</button>`
      : html``
  }
<button formaction="/console/send/dispatch">${words.sendDo}</button>
<button class="second" formaction="${pathIn(other, '/console/send/copy')}">${
    words[`modeOther_${other}`]
  }</button></div><div class="told" role="status">${reported}</div>
${template === undefined ? html`` : previewOf(words, template, shows(draft, shown))}</section>
${code}</form>`
  return page({ ...visit, path }, {
    title: template === undefined ? words.sendGiven : fill(words.sendTitle, { name: templateName(words, template) }),
    section: 'send',
    main
  })
}

/** The frame with what a template makes. */
function previewOf (words: Words, template: SentTemplate, shown: Html): Html {
  return html`<p class="quiet">${words.sendPreviewIntro}</p>
<iframe name="document" src="/console/send/preview" title="${
    fill(words.previewOf, { name: templateName(words, template) })
  }"${shown}></iframe>`
}

/** Whether an e-invoice is made, by its own fields or those of its template. */
function isEInvoice ({ fields, template }: Draft): boolean {
  return (fields['documentType'] ?? template?.documentType) === 'E_INVOICE'
}

/** Whether a draft is as it began, as most are that are shown: with the sample, of today. */
function isBegun ({ data: values, template }: Draft, problems: Filled['problems']): boolean {
  return template !== undefined && values === datedToday(template.sample) && problems.length === 0
}

/** The parts of drafts as they begin, which are most of the page: as code, and the fields of each sample in each language. */
const begunCode = createRemembered<Html>(20)
const begunFields = memoizeByIdentity<JsonObject, Map<Words['code'], Html>>(() => new Map())

/** What the preview of a draft shows, by name. Where the data are wrong there is none. */
function shows ({ template, data: values }: Draft, { problems = [], accepted = false }: Shown): Html {
  if (template === undefined || typeof values === 'string' || !accepted && problems.some(({ path }) => path.startsWith(data))) return html``
  return html` data-shows="${hash('sha256', JSON.stringify([template.id, values])).slice(0, 12)}"${
    messageServices.includes(template.service) ? html`` : html` data-pdf`
  }`
}

/** The same request as code, each with the reader's own key. */
function codeSection (words: Words, request: ApiRequest): Html {
  const kinds = [['curl', curlOf(request)], ['TypeScript', typescriptOf(request)], ['Python', pythonOf(request)], ['PHP', phpOf(request)], [
    'Java',
    javaOf(request)
  ], ['C#', csharpOf(request)]] as const
  return html`<section aria-labelledby="code"><h2 id="code">${words.sendCode}</h2><p>${words.sendCodeIntro}</p>${
    kinds.map(([title, code], index) =>
      html`<details${index === 0 ? html` open` : html``}><summary>${title}</summary><pre${copyable(words, title)}>${code}</pre></details>`
    )
  }${
    readsFile(request)
      ? html`<p>${words.sendCodeFile}</p><div class="actions"><button class="second" formaction="/console/send/request">${words.sendCodeSave}</button></div>`
      : html``
  }</section>`
}

type Filling = { problems: Filled['problems'], files: readonly ListedFile[] }

/** Which document is sent, where none is made of a template. */
function documentSection (words: Words, { template, document }: Draft, { problems, files }: Filling): Html {
  if (template !== undefined) return html``
  return html`<section aria-labelledby="given"><h2 id="given">${words.document}</h2>${
    fieldsOf(words, givenForm(files, document), { values: { document }, problems }, { name: '', path: '' })
  }</section>`
}

function aboutSection (words: Words, draft: Draft, { problems, files, now }: Filling & { now: Date }): Html {
  const { service, fields, provider, config } = draft
  const providers = choosable(words, draft)
  const form = withSenders(words, serviceForms[service] ?? {}, { config, service, provider })
  return html`<section aria-labelledby="about"><h2 id="about">${words.sendAbout}${words.colon}${
    wordFor(words, 'service', service)
  }</h2><div class="dense">${
    fieldsOf(words, withFiles(form, files, fields), { values: fields, problems }, {
      name: 'request.',
      path: `/${service}`
    })
  }</div>${uploadButton(words, draft)}${
    providers.length === 0 ? html`` : html`${
      choiceField({
        name: 'provider',
        label: words.provider,
        value: provider,
        none: words.sendProviderUsual,
        options: providers,
        wrong: problems.filter(({ path }) => path === '/providerName').map((one) => sentenceOf(words, one))
      })
    }`
  }${moreFields(words, draft, problems, now)}</section>`
}

/** The way to the page on which files are uploaded, and back. */
function uploadButton (words: Words, { template, service, following }: Draft): Html {
  const forms = [serviceForms[service], ...following.map((next) => followingForms[next.service])]
  return template === undefined || forms.some((form) => form !== undefined && namesFiles(form))
    ? html`<div class="actions"><button class="second" formaction="/console/send/files">${words.sendUpload}</button></div>`
    : html``
}

function moreFields (words: Words, draft: Draft, problems: Filled['problems'], now: Date): Html {
  const { metadata, callbackUrl, sendAt, timeZone, usualHours } = draft
  const wrongAt = (path: string): Html[] =>
    problems.filter((one) => one.path === path || one.path.startsWith(`${path}/`)).map((one) => sentenceOf(words, one))
  const wrong = {
    metadata: wrongAt('/metadata'),
    callbackUrl: wrongAt('/callbackUrl'),
    sendAt: wrongAt('/sendAt'),
    timeZone: wrongAt('/timeZone'),
    hours: wrongAt('/hours')
  }
  const isOpen = [metadata, callbackUrl, sendAt, timeZone].some((text) => text !== '') || usualHours ||
    Object.values(wrong).some((found) => found.length > 0)
  return html`<details${isOpen ? html` open` : html``}><summary>${words.sendMoreFields}</summary>${
    timeFields(words, { sendAt, timeZone }, { wrong, now })
  }${checkField({ name: ':usualHours', label: words.sendHours, checked: usualHours, wrong: wrong.hours })}${
    linesField({ name: ':metadata', label: words.metadata, help: words.sendMetadata, value: metadata, wrong: wrong.metadata })
  }${
    textField({
      name: ':callbackUrl',
      label: words.sendCallbackUrl,
      help: words.sendCallbackUrlHelp,
      type: 'url',
      value: callbackUrl,
      wrong: wrong.callbackUrl
    })
  }</details>`
}

type Wrong = Partial<Record<'sendAt' | 'timeZone', readonly Html[]>>

/** When something is sent: a local time and its zone. `now`: by the clock of the service, which counts. */
export function timeFields (
  words: Words,
  { sendAt, timeZone }: Pick<Draft, 'sendAt' | 'timeZone'>,
  { wrong = {}, help = words.sendAtHelp, now }: { wrong?: Wrong, help?: string, now: Date }
): Html {
  return html`${
    textField({
      name: ':sendAt',
      label: words.sendAtField,
      help: `${help} ${fill(words.sendAtClock, { now: `${now.toISOString().slice(0, 16).replace('T', ' ')} UTC` })}`,
      type: 'datetime-local',
      value: sendAt,
      wrong: wrong.sendAt
    })
  }${
    textField({
      name: ':timeZone',
      label: words.sendTimeZone,
      help: words.sendTimeZoneHelp,
      value: timeZone,
      wrong: wrong.timeZone
    })
  }`
}

/** The services that follow in a chain, each with its fields. */
function followingSections (words: Words, { following, config }: Draft, { problems, files }: Filling): Html[] {
  return following.map(({ service, fields }) =>
    html`<section aria-labelledby="then-${service}"><h2 id="then-${service}">${words.sendThen}${words.colon}${
      wordFor(words, 'service', service)
    }</h2><div class="dense">${
      fieldsOf(words, withFiles(withSenders(words, followingForms[service] ?? {}, { config, service }), files, fields), {
        values: fields,
        problems
      }, {
        name: `then.${service}.`,
        path: `/${service}`
      })
    }</div><div class="actions"><button class="second" name=":without" value="${service}">${
      fill(words.sendWithout, { service: wordFor(words, 'service', service) })
    }</button></div></section>`
  )
}

/** What may follow what is there; behind a service that nobody can do, why. */
function nextSection (visit: Visit, { service, following, config, providers }: Draft): Html {
  const { words } = visit
  const called = (name: string): string => {
    const lack = lackFor(words, { config, providers }, name)
    return lack === undefined ? wordFor(words, 'service', name) : `${wordFor(words, 'service', name)} (${lack})`
  }
  const next = followersOf([service, ...following.map((one) => one.service)]).filter((name) => mayUse(visit, name))
  if (next.length === 0) return html``
  return html`<section aria-labelledby="then"><h2 id="then">${words.sendThen}</h2><p class="quiet">${words.sendThenIntro}</p><div class="actions">${
    next.map((name) => html`<button class="second" name=":then" value="${name}">${called(name)}</button>`)
  }</div></section>`
}

const data = '/template/data'

function dataSection (words: Words, draft: Draft, problems: Filled['problems']): Html {
  return html`<section class="wide" aria-labelledby="data"><h2 id="data">${words.sendData}</h2><p class="quiet">${words.sendDataIntro}</p>${
    draft.form === undefined || typeof draft.data === 'string' ? asJson(words, draft, problems) : asForm(words, draft, problems)
  }</section>`
}

function asForm (words: Words, draft: Draft, problems: Filled['problems']): Html {
  const { form, data: values } = draft
  if (form === undefined || typeof values === 'string') return html``
  if (!isBegun(draft, problems)) return dataFields(words, draft, form, { values, problems })
  // A form is that of one sample, and a sample is another object on another day.
  const known = begunFields(values)
  const fields = known.get(words.code) ?? dataFields(words, draft, form, { values, problems })
  known.set(words.code, fields)
  return fields
}

function dataFields (words: Words, draft: Draft, form: DataForm, { values, problems }: Filled): Html {
  const { computes, template } = draft
  const shown = computes === true ? withComputed(form.form, computedOf(template?.service ?? '')?.fields ?? []) : form.form
  return html`<input type="hidden" name=":written" value="form"><input type="hidden" name=":rest" value="${
    JSON.stringify(restOf(form, values))
  }">${
    computes === undefined ?
      html`` :
      html`<input type="hidden" name=":computable" value="true">${
        checkField({ name: ':computes', label: words.sendComputes, checked: computes })
      }`
  }<div class="dense">${fieldsOf(words, shown, { values: shownOf(form, values), problems }, { name: 'data.', path: data })}</div>${
    form.leftOut.length === 0
      ? html``
      : html`<p class="quiet">${
        fill(words.sendLeftOut, { names: form.leftOut.map((name) => wordFor(words, 'data', name)).join(', ') })
      }</p>`
  }
<div class="actions"><button class="second" name=":show" value="json">${words.sendAsJson}</button></div>`
}

function asJson (words: Words, { data: value, requested }: Draft, problems: Filled['problems']): Html {
  const own = problems.filter(({ path }) => path === data || path.startsWith(`${data}/`))
  const text: Json = typeof value === 'string' ? value : pretty(value)
  return html`<input type="hidden" name=":written" value="json">${
    longTextField(words, {
      name: 'json',
      label: words.sendJson,
      help: words.sendDataIntro,
      value: text,
      syntax: 'json',
      problems: own.map((problem) => ({ ...problem, path: `/json${problem.path.slice(data.length)}` }))
    })
  }${requested === 'form' ? html`<p class="quiet">${words.sendNoForm}</p>` : html``}
<div class="actions"><button class="second" name=":show" value="form">${words.sendAsForm}</button></div>`
}

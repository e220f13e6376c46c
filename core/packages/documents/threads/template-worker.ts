import type { Problem } from '@dispatch/common'
import { LRUCache } from 'lru-cache'
import { move, transferableSymbol, valueSymbol } from 'piscina'
import { examineTemplate } from '../compile/compile.ts'
import { type DataCheck, dataCheck, type DataFindings } from '../data/data-check.ts'
import { dataUriOf, readImage } from '../image/read.ts'
import { readDataSchema } from '../model/data-schema.ts'
import { inspectPartial } from '../source/inspect-partial.ts'
import { inspectDraft } from '../source/inspect.ts'
import type { CheckedTemplate, InvoiceReading, TemplateTask, TemplateTaskKind, TemplateTasks } from './template-task.ts'
import { inThread } from './thread-job.ts'

/** Does one template job in a thread. */
export default inThread(({ kind, job }: TemplateTask) => (doers[kind] as (job: unknown) => unknown)(job))

const doers: { [K in TemplateTaskKind]: (job: TemplateTasks[K]['job']) => TemplateTasks[K]['answer'] | Promise<unknown> } = {
  inspect: inspectDraft,
  inspectPartial,
  check: ({ template, data, at, format }) => checkOf(template).evaluate(data, at, format),
  subject: ({ template, data, at }) => checkOf(template).subject(data, at),
  refuse ({ template, all, at, format, examples }) {
    const check = checkOf(template)
    const refused = all.flatMap(({ id, data }) => {
      const [problem] = check.evaluate(data, at, format).problems
      return problem === undefined ? [] : [{ id, problem }]
    })
    return { refused: refused.length, examples: refused.slice(0, examples) }
  },
  // Reading fonts takes a moment, so it is done only for jobs that render.
  render: async ({ template: { digest, source }, ...job }) => (await import('./worker.ts')).makeDocument(job, digest, () => source),
  async profiles ({ source: { currency }, data, at, profile, format }) {
    const { currencyOf, reportProfiles } = await import('@dispatch/einvoice')
    return { ok: true, reports: reportProfiles(data, currencyOf(currency), { profile, format }, at) }
  },
  read: async (bytes) => invoiceIn(await import('@dispatch/einvoice'), bytes),
  address: async ({ pdf, page }) => transferred(await (await import('../given/address-page.ts')).addressPdf(pdf, page)),
  pages: async (bytes) => (await import('../given/join-pdfs.ts')).readPdf(bytes),
  join: async (pdfs) => transferred(await (await import('../given/join-pdfs.ts')).joinPdfs(pdfs)),
  flatten (uri) {
    const image = readImage(uri)
    if (typeof image === 'string') return { fault: image }
    const { width, height } = image
    return { uri: dataUriOf(image), width, height }
  }
}

/** The bytes of a file are transferred, not copied. */
function transferred (answer: { ok: true, bytes: Uint8Array<ArrayBuffer> } | { ok: false }): unknown {
  return answer.ok ? move({ [transferableSymbol]: [answer.bytes.buffer], [valueSymbol]: answer }) : answer
}

function invoiceIn ({ readInvoice, UnreadableInvoice }: typeof import('@dispatch/einvoice'), bytes: Uint8Array): InvoiceReading {
  try {
    return { ok: true, invoice: readInvoice(bytes) }
  } catch (error) {
    if (!(error instanceof UnreadableInvoice)) throw error
    const { code, message, place } = error
    return { ok: false, problem: { code, message, ...place } }
  }
}

const checks = new LRUCache<string, DataCheck>({ max: 200 })

function checkOf (template: CheckedTemplate): DataCheck {
  const known = checks.get(template.digest) ?? compileCheck(template)
  checks.set(template.digest, known)
  return known
}

function compileCheck ({ schema, source }: CheckedTemplate): DataCheck {
  const compiled = readDataSchema(schema, '')
  return compiled.ok ? dataCheck(compiled.fit, examineTemplate(source)) : unfit(compiled.problems)
}

/** The schema is invalid: no data fit it. */
function unfit (problems: readonly Problem[]): DataCheck {
  const fit = (_data: object, at: string): DataFindings => ({
    problems: problems.map((problem) => ({ ...problem, path: at })),
    warnings: [],
    signers: 0
  })
  return { fit, evaluate: fit, subject: fit }
}

import { requireService } from '@dispatch/accounts'
import { createFairSemaphore, type FairSemaphore } from '@dispatch/common'
import { AnyJsonObject, DispatchError, page } from '@dispatch/contract'
import { auditAuthorOf, contentDisposition, pageOf, resourceNotFound, uuidIn } from '@dispatch/plugins/routes'
import type { FastifyPluginAsyncTypebox, FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import type { InvoiceReader } from '../../e-invoices/service/reader.ts'
import { AnswerBody, AnswerView, FileQuery, ReceivedInvoiceDetails, ReceivedInvoiceView, ReceivedQuery, ReceptionBody,
  ReceptionView } from '../contract/received-invoices.ts'
import type { Answers } from '../service/answers.ts'
import { asService, type ReceivedInvoices } from '../service/received.ts'

const tags = ['Received invoices']
const path = '/api/v1/e-invoices/received'

const answerExample: AnswerView = {
  statusId: '01929f3c-6a1b-8c44-8f0e-2d5b8a7c1e90',
  code: '205',
  name: 'Approuvée',
  at: '2026-10-02T10:00:00.000Z',
  state: 'said',
  userId: 7,
  askedAt: '2026-10-02T10:05:00.000Z'
}
/** An e-invoice as a client reads it, for the documentation. */
const example: ReceivedInvoiceDetails = {
  id: '01929f3c-6a1b-7c44-9f0e-2d5b8a7c1e90',
  provider: 'flow',
  remoteId: '5f0c2b7e-3a52-4f0d-9c1e-8a4f6a1b2c3d',
  sandbox: false,
  state: 'readable',
  problem: null,
  file: {
    filename: 'F-1.pdf',
    contentType: 'application/pdf',
    size: 48_213,
    sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'
  },
  invoice: {
    format: 'FACTUR_X',
    profile: 'EN16931',
    number: 'F-1',
    type: '380',
    date: '2026-10-01',
    currency: 'EUR',
    total: '24.00',
    amountDue: '24.00',
    seller: 'Acme Tea',
    sellerId: '732829320',
    customer: 'Ada Lovelace Ltd',
    brokenRules: 0
  },
  status: '205',
  receivedAt: '2026-10-01T09:30:00.000Z',
  keptUntil: '2026-12-30T09:31:00.000Z',
  statuses: [answerExample],
  sayable: ['205', '206', '207', '208', '210', '211']
}
const receptionExample: ReceptionView = {
  provider: 'flow',
  name: 'AFNOR Flow Service',
  sandbox: false,
  says: true,
  receives: true,
  since: '2026-09-01T00:00:00.000Z',
  lookedAt: '2026-10-02T10:00:00.000Z',
  problem: null
}

const Bytes = { schema: { type: 'string', format: 'binary' } }
const File = {
  description: 'The file, or with `format` what it says.',
  content: {
    'application/json': { schema: AnyJsonObject },
    'text/html': Bytes,
    'application/pdf': Bytes,
    'application/xml': Bytes,
    'application/octet-stream': Bytes
  }
}

type Named = { Params: { id: string } }
type Needs = { receivedInvoices: ReceivedInvoices, receivedInvoiceAnswers: Answers, invoiceReader: InvoiceReader }

/** `reading`: a file is in memory while it is read, so few are at once. */
type Options = Needs & { reading: FairSemaphore }

function createReading (): FairSemaphore {
  return createFairSemaphore({
    total: 4,
    perOwner: 1,
    waiting: 20,
    full: () =>
      new DispatchError('rate_limited', 'Other e-invoices of the company are being read: try again in a few seconds.', {
        retryAfter: 5
      })
  })
}

/** What has come, and what stands in it. */
const readingRoutes: FastifyPluginCallbackTypebox<Options> = (app, { receivedInvoices, invoiceReader, reading }, done) => {
  app.get<{ Querystring: ReceivedQuery }>(path, {
    config: { errors: ['validation_error'] },
    schema: {
      operationId: 'listReceivedInvoices',
      tags,
      summary: 'Lists the e-invoices that have come to the company, the newest first. A test key sees those of test environments.',
      querystring: ReceivedQuery,
      response: { 200: page(ReceivedInvoiceView) }
    }
  }, async ({ actor, query }) => {
    const { limit = 25 } = query
    return pageOf(await receivedInvoices.list(actor, { ...query, limit }), limit, ({ id }) => id)
  })

  app.get<Named>(`${path}/:id`, {
    config: { errors: ['not_found'] },
    schema: {
      operationId: 'readReceivedInvoice',
      tags,
      summary: 'Reads one, with what was said of it and what may be said now.',
      response: { 200: { ...ReceivedInvoiceDetails, examples: [example] } }
    }
  }, async ({ actor, params: { id } }) => await receivedInvoices.read(actor, uuidIn(id, 'received invoice')) ?? absent(id))

  app.get<Named & { Querystring: FileQuery }>(`${path}/:id/file`, {
    config: { errors: ['validation_error', 'validation_failed', 'not_found', 'conflict', 'document_damaged', 'provider_unavailable'] },
    schema: {
      operationId: 'readReceivedInvoiceFile',
      tags,
      summary: 'Its file, as it came, or what it says: as data, or as a page for people.',
      querystring: FileQuery,
      response: { 200: File }
    }
  }, async ({ actor, params, query: { format = 'original', language } }, reply) => {
    const id = uuidIn(params.id, 'received invoice')
    // It holds what a stranger has written, so a browser must not run any of it.
    void reply.headers({
      'content-security-policy': 'default-src \'none\'; img-src data:; style-src \'unsafe-inline\'; sandbox',
      'cache-control': 'private, no-store'
    })
    if (format === 'original') {
      const { filename, contentType, size, content } = await receivedInvoices.original(actor, id) ?? absent(id)
      return reply.headers({
        'content-type': contentType,
        'content-length': size,
        'content-disposition': contentDisposition(filename)
      }).send(content)
    }
    return reading.run(actor.companyId, async () => {
      const invoice = await receivedInvoices.reading(actor, id) ?? absent(id)
      if (format === 'json') return reply.send(invoice)
      const made = await invoiceReader.show(actor.companyId, invoice, { format, ...language !== undefined && { language } })
      return reply.headers({
        'content-type': made.contentType,
        'content-disposition': contentDisposition(`e-invoice.${made.extension}`)
      }).send(Buffer.from(made.bytes.buffer, made.bytes.byteOffset, made.bytes.byteLength))
    })
  })
  done()
}

/** What the company says of it. */
const answerRoutes: FastifyPluginCallbackTypebox<Options> = (app, { receivedInvoiceAnswers, reading }, done) => {
  app.post<Named & { Body: AnswerBody }>(`${path}/:id/statuses`, {
    config: {
      errors: ['validation_error', 'validation_failed', 'not_found', 'conflict', 'provider_unavailable', 'outcome_unknown',
        'document_damaged'],
      limit: 'dispatch'
    },
    schema: {
      operationId: 'sayReceivedInvoiceStatus',
      tags,
      summary: 'Says of one that it is approved, refused, paid or the like, at its platform.',
      description:
        'The platform gets a message of the French life cycle (CDAR, AFNOR XP Z12-012), which is checked by its rules before. The same ' +
        'said again is said at most once: after `outcome_unknown` it finds out what became of it. A second status with the same words ' +
        'names another `at`. What the platform has, and what it refuses later, callbacks tell. Of a refused one nothing more is said.',
      body: AnswerBody,
      response: { 200: { ...AnswerView, examples: [answerExample] } }
    }
  }, async (request) => {
    const { actor, params: { id }, body } = request
    return await receivedInvoiceAnswers.say(actor, auditAuthorOf(request), uuidIn(id, 'received invoice'), body, reading.run) ?? absent(id)
  })
  done()
}

/** By which providers e-invoices come. */
const receptionRoutes: FastifyPluginCallbackTypebox<Options> = (app, { receivedInvoices }, done) => {
  app.get('/api/v1/e-invoices/receptions', {
    config: { errors: [] },
    schema: {
      operationId: 'listReceptions',
      tags,
      summary: 'The company\'s providers by which e-invoices can come, and whether they are asked.',
      response: { 200: { ...page(ReceptionView), examples: [{ data: [receptionExample], nextCursor: null }] } }
    }
  }, async ({ actor: { companyId } }) => ({ data: await receivedInvoices.receptions(companyId), nextCursor: null }))

  app.put<{ Params: { code: string }, Body: ReceptionBody }>('/api/v1/e-invoices/receptions/:code', {
    config: { errors: ['validation_error', 'validation_failed', 'not_found'] },
    schema: {
      operationId: 'setReception',
      tags,
      summary: 'Begins or ends taking in the e-invoices that come by one of the company\'s providers.',
      description:
        'The provider is asked at once, then every five minutes. Each e-invoice is taken in once, also where `since` goes back before ' +
        'it. Nothing changes at the provider itself.',
      body: ReceptionBody,
      response: { 200: { ...ReceptionView, examples: [receptionExample] } }
    }
  }, async (request) => {
    const { params: { code }, body } = request
    const set = await receivedInvoices.setReception(auditAuthorOf(request), code, body)
    if (set === undefined) throw resourceNotFound('reception', code)
    return set
  })
  done()
}

/** E-invoices that others have sent to a company. */
export const receivedRoutes: FastifyPluginAsyncTypebox<Needs> = async (app, needs) => {
  app.addHook('preHandler', ({ actor }, _reply, passed) => {
    requireService(actor, asService)
    passed()
  })
  const options = { ...needs, reading: createReading() }
  await app.register(readingRoutes, options)
  await app.register(answerRoutes, options)
  await app.register(receptionRoutes, options)
}

function absent (id: string): never {
  throw resourceNotFound('received invoice', id)
}

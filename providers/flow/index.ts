import { defineProvider, refused, Type } from '@dispatch/core/provider'
import { acknowledged, answer, ask, find, read, submit } from './api.ts'
import { recipientsAt } from './directory.ts'
import { begin, lifecycle, noteSaid, remember, statusOf } from './lifecycle.ts'
import { listReceived, receivedFile } from './received.ts'
import { sendReport, taken } from './report.ts'
import { RequestSettings, Settings } from './settings.ts'

/** The syntax of a file for each format of the e-invoice. */
const syntaxes = { FACTUR_X: 'Factur-X', UBL: 'UBL', CII: 'CII' } as const

/** The platforms' words for profiles; EXTENDED of Factur-X has none. */
const flowProfiles: Readonly<Record<string, string>> = {
  MINIMUM: 'Basic',
  BASIC_WL: 'Basic',
  BASIC: 'Basic',
  EN16931: 'CIUS',
  PEPPOL: 'CIUS',
  XRECHNUNG: 'CIUS',
  EXTENDED_CTC_FR: 'Extended-CTC-FR'
}

const minute = 60
const day = 24 * 60 * minute

/** What holds of every file. A received one may not be found by a search at once. */
const files = {
  idempotency: { kind: 'lookup', visibleAfter: 10 * minute },
  timeLimit: 100,
  // "Not implemented": one platform gives this answer to every request with a processing rule, and stores nothing.
  notProcessed: [501],
  poll: { after: 5 * minute, every: 30 * minute, until: 60 * day }
} as const

export default defineProvider({
  code: 'flow',
  name: 'AFNOR Flow Service',
  sandbox: { kind: 'flag', needs: ['sandboxUrl'] },
  settings: Settings,
  requestSettings: RequestSettings,
  errors: { at: ['/errorCode', '/error'], message: ['/errorMessage', '/error_description'] },
  check: (call) => call.http.get(...ask(call, 'healthcheck'), Type.Null()),
  services: {
    invoicing: {
      documentTypes: ['E_INVOICE'],
      eInvoiceFormats: ['FACTUR_X', 'UBL', 'CII'],
      eInvoiceRules: 'FRANCE',
      ignores: [{
        at: ['/invoicing/customerId', '/invoicing/reference'],
        because: 'The platform reads the e-invoice, which names its customer and its references itself.'
      }],
      ...files,
      statuses: { ...acknowledged, ...lifecycle },

      async dispatch ({ invoicing: { eInvoiceFormat = 'FACTUR_X', eInvoiceProfile = '' }, data, document }, call) {
        const { settings, requestSettings } = call
        const made = flowProfiles[eInvoiceProfile]
        const { processingRule, flowProfile = made } = { ...settings, ...requestSettings }
        if (made !== undefined && flowProfile !== made) {
          throw refused('other_profile',
            `The e-invoice follows ${eInvoiceProfile}, which is "${made}": set "flowProfile" to that, or leave it out.`)
        }
        await begin(call, data['number'])
        const flowId = await submit(call, {
          flowSyntax: syntaxes[eInvoiceFormat],
          name: document.filename,
          sha256: document.sha256,
          ...(processingRule !== undefined && { processingRule }),
          ...(flowProfile !== undefined && { flowProfile })
        }, document)
        await remember(call)
        return answer({ flowId })
      },

      async lookup ({ reference }, call) {
        const found = await find(reference, call)
        if (found.found === 'accepted') await remember(call)
        return found
      },

      async say ({ message }, call) {
        const filename = 'status.xml'
        await noteSaid(call)
        return answer({
          flowId: await submit(call, { flowSyntax: 'CDAR', name: filename }, { text: message, contentType: 'application/xml', filename })
        })
      },

      recipients: recipientsAt,

      received: listReceived,
      receivedFile: ({ id }, call) => receivedFile(id, call),

      async status ({ id }, call) {
        const flow = await read(id, call)
        return flow.status === 'Ok' ? { ...flow, ...await statusOf(id, call) } : flow
      }
    },

    upload: {
      ...files,
      ignores: [{
        at: ['/settings/processingRule', '/settings/flowProfile'],
        because: 'The platform sees by itself what a report is about.'
      }],
      statuses: taken,
      dispatch: sendReport,
      lookup: ({ reference }, call) => find(reference, call),
      status: ({ id }, call) => read(id, call)
    }
  }
})

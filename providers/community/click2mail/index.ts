import { type Context, defineProvider, type HttpCall, refused, type ServiceContracts, type Static, Type,
  unavailable } from '@dispatch/core/provider'
import { Settings } from './settings.ts'

type Call = Context<Static<typeof Settings>, unknown>
type Postal = ServiceContracts['postal']['dispatch']

/** What is not done may be a 200 that says so. */
const Made = Type.Object({
  id: Type.String({ minLength: 1 }),
  status: Type.Optional(Type.String()),
  description: Type.Optional(Type.String())
})
const Stored = Type.Object({ document: Made })
const Listed = Type.Object({ addressList: Made })
const Job = Type.Object({ job: Made })

/** The status of an address list whose addresses have the form of the post. */
const standardized = '3'
/** Not found, not paid, an error. */
const failed = new Set(['1', '2', '9'])
const maxLines = 3

export default defineProvider({
  code: 'click2mail',
  name: 'Click2Mail',
  docs: 'https://developers.click2mail.com',
  hosts: ['rest.click2mail.com', 'stage-rest.click2mail.com'],
  sandbox: { kind: 'configuration' },
  settings: Settings,
  errors: { message: ['/document/description', '/addressList/description', '/job/description'] },
  services: {
    postal: {
      mailTypes: ['SIMPLE', 'REGISTERED'],
      countries: ['US'],
      papers: ['Letter'],
      color: true,
      duplex: true,
      checkpoint: true,
      // A job that is not submitted is neither printed nor charged.
      draftsStay: true,
      idempotency: { kind: 'none' },

      check ({ postal: { recipient } }) {
        addressOf(recipient)
        return []
      },

      async dispatch (request, call) {
        const draft = call.checkpointed ?? await draftOf(request, call)
        await call.checkpoint(draft)
        const form = { billingType: 'User Credit' }
        const { job } = await call.http.post(...ask(call, `jobs/${encodeURIComponent(draft)}/submit`, { form }), Job)
        return { id: done(job).id, status: 'submitted' }
      }
    }
  }
})

function ask ({ settings: { username, password }, sandbox }: Call, path: string, more: HttpCall = {}): [url: string, call: HttpCall] {
  return [`https://${sandbox ? 'stage-' : ''}rest.click2mail.com/molpro/${path}`, {
    basic: [username, password],
    replyAs: 'xml',
    ...more
  }]
}

/** Refuses what Click2Mail has not done. */
function done<One extends Static<typeof Made>> (one: One): One {
  const { status = '0', description = 'Click2Mail does not say why.' } = one
  if (failed.has(status)) throw refused(`status_${status}`, description)
  return one
}

/** A job with its document and the address: nothing of it is printed before it is submitted. */
async function draftOf ({ postal: { recipient, mailType, color, duplex }, document }: Postal, call: Call): Promise<string> {
  const addresses = { address: addressOf(recipient) }
  const certified = mailType === 'REGISTERED'
  const documentClass = certified ? 'Certified Letter 8.5 x 11' : 'Letter 8.5 x 11'
  const { document: stored } = await call.http.post(...ask(call, 'documents', {
    multipart: { documentFormat: 'PDF', documentName: call.reference, documentClass, file: document }
  }), Stored)
  // The mapping 2 is that of the vendor's own address form.
  const xml = { addressList: { addressListName: call.reference, addressMappingId: 2, addresses } }
  const { addressList: { id: addressId, status: first } } = await call.http.post(...ask(call, 'addressLists', { xml }), Listed)
  await standardOf(addressId, first, call)
  const { job } = await call.http.post(...ask(call, 'jobs', {
    form: {
      documentClass,
      layout: 'Address on Separate Page',
      productionTime: 'Next Day',
      envelope: certified ? 'Certified Mail Letter Envelope' : '#10 Double Window',
      color: color ? 'Full Color' : 'Black and White',
      paperType: 'White 24#',
      printOption: duplex ? 'Printing both sides' : 'Printing One side',
      mailClass: certified ? 'Certified Mail' : 'First Class',
      documentId: done(stored).id,
      addressId
    }
  }), Job)
  return done(job).id
}

/** Waits until the post's form of the address is found. */
async function standardOf (id: string, first: string | undefined, call: Call): Promise<void> {
  let status = first
  for (let nth = 0; status !== standardized; nth++) {
    if (nth === 10) throw unavailable('Click2Mail has not finished with the address: it is tried again.')
    if (nth > 0) await call.wait(2)
    status = done((await call.http.get(...ask(call, `addressLists/${encodeURIComponent(id)}`), Listed)).addressList).status
  }
}

function addressOf ({ name, company = '', address, city, state, postalCode = '' }: Postal['postal']['recipient']): Record<string, string> {
  const lines = address.split('\n').map((text) => text.trim()).filter((text) => text !== '')
  if (lines.length > maxLines) {
    throw refused('too_many_address_lines', `Click2Mail prints ${maxLines} lines of an address, and this has ${lines.length}.`,
      '/postal/recipient/address')
  }
  if (state === undefined) throw refused('state_missing', 'An address in the United States has a state.', '/postal/recipient/state')
  const [Address1 = '', Address2 = '', Address3 = ''] = lines
  return {
    First_name: '',
    Last_name: name,
    Organization: company,
    Address1,
    Address2,
    Address3,
    City: city,
    State: state,
    Zip: postalCode,
    'Country_non-US': ''
  }
}

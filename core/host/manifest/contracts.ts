import type { ServiceName } from '../../contract/service-names.ts'
import type { EmailCapabilities, EmailDispatch } from '../../services/email.ts'
import type { EsignCapabilities, EsignDispatch } from '../../services/esign.ts'
import type { InvoicingCapabilities, InvoicingDispatch } from '../../services/invoicing.ts'
import type { PostalCapabilities, PostalDispatch } from '../../services/postal.ts'
import type { SmsCapabilities, SmsDispatch } from '../../services/sms.ts'
import type { UploadCapabilities, UploadDispatch } from '../../services/upload.ts'

/** Compiles only with a contract for every service. */
type OnePerService<Contracts extends Record<ServiceName, { capabilities: object, dispatch: object }>> = Contracts

/** The core itself does this service: no provider can declare it. */
type NoProvider = { capabilities: never, dispatch: never }

/**
 * For each service, what its providers declare (`capabilities`) and what they get (`dispatch`), as plain data. A new service is one line
 * here.
 */
export type ServiceContracts = OnePerService<{
  invoicing: { capabilities: InvoicingCapabilities, dispatch: InvoicingDispatch }
  esign: { capabilities: EsignCapabilities, dispatch: EsignDispatch }
  postal: { capabilities: PostalCapabilities, dispatch: PostalDispatch }
  sms: { capabilities: SmsCapabilities, dispatch: SmsDispatch }
  email: { capabilities: EmailCapabilities, dispatch: EmailDispatch }
  upload: { capabilities: UploadCapabilities, dispatch: UploadDispatch }
  file: NoProvider
}>

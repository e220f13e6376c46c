import type { InvoicingCapabilities, InvoicingDispatch } from '../services/invoicing.ts'
import type { ServiceName } from '../services/index.ts'

/** Compiles only with a contract for every service. */
type OnePerService<Contracts extends Record<ServiceName, { capabilities: object, dispatch: object }>> = Contracts

/**
 * What each service has its providers declare (`capabilities`) and hands them (`dispatch`), as plain data.
 * A new service is one line here.
 */
export type ServiceContracts = OnePerService<{
  invoicing: { capabilities: InvoicingCapabilities, dispatch: InvoicingDispatch }
}>

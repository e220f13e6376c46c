/** The process of an adapter ended while it was asked something. */
export class AdapterEnded extends Error {
  override name = 'AdapterEnded'
}

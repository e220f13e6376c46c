/** The host is a literal address that is not public. */
export class ForbiddenAddress extends Error {
  override name = 'ForbiddenAddress'
  readonly code = 'FORBIDDEN_ADDRESS'
}

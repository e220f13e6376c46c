import type { ErrorWord } from '@dispatch/contract'
import type { ProviderErrorWord } from '@dispatch/vendor-io/outcome'

/** The error word of a client for that of a provider. Which requests the vendor would take now is no matter of the client's. */
export function clientWord (word: ProviderErrorWord): ErrorWord {
  return word === 'recipient_unavailable' ? 'provider_unavailable' : word
}

/** Why an event is not accepted as the vendor's. */
export type SignatureFault =
  | 'no_signature'
  | 'malformed_signature'
  | 'forbidden_header'
  | 'forbidden_host'
  | 'wrong_algorithm'
  | 'wrong_signature'
  | 'no_secret'
  | 'no_account'
  | 'wrong_time'
  | 'outdated_certificate'

/** `unknown_key`: the signature's key is not among the known keys, so it cannot be verified yet. */
export type VerificationStatus = 'verified' | 'unknown_key' | SignatureFault

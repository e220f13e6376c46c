/** The words of proposals in English. */
export const words = {
  proposals: 'Proposals',
  proposalOf: 'Proposal of {at}',
  proposalsIntro: 'What assistants want to send. Nothing of it leaves before a person has seen it here and sent it.',
  proposalsNone: 'No assistant has proposed anything.',
  proposalService: 'Service',
  proposalBy: 'Proposed with a key of user',
  proposalReason: 'What the assistant says',
  proposalAt: 'Proposed',
  proposalStatus: 'Status',
  proposalRequest: 'The whole request',
  proposalDocument: 'The document',
  proposalPlan: 'What sending it does',
  proposalSend: 'Send it',
  proposalDecline: 'Decline',
  proposalDispatch: 'What it was sent as',
  proposal_open: 'Waits for a person',
  proposal_sent: 'Sent',
  proposal_declined: 'Declined',
  proposal_expired: 'Expired',
  auditProposalSent: 'A proposal of an assistant was sent',
  auditProposalDeclined: 'A proposal of an assistant was declined'
}

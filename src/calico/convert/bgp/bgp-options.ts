// How strict the kinds of BGP are: a Typha leaves out an object that breaks a rule, as the original's does; the original's confd, which reads the
// datastore itself, takes of it what makes sense.
export type BgpOptions = { readonly passesFaulty?: boolean };

// The names that Go's regular expressions know between the braces of \p{...}: Unicode's categories by both of their
// names, and scripts, in any case and with blanks, _ and - left out.

const categories =
  /^(?:c[cfnos]?|l[clmotu]?|m[cen]?|n[dlo]?|p[cdefios]?|s[ckmo]?|z[lps]?|any|ascii|assigned|cntrl|control|digit|format|other|privateuse|punct|surrogate|unassigned|(?:cased|lowercase|modifier|other|titlecase|uppercase)?letter|(?:combining|enclosing|nonspacing|spacing)?mark|(?:decimal|letter|other)?number|(?:close|connector|dash|final|initial|open|other)?punctuation|(?:currency|math|modifier|other)?symbol|(?:line|paragraph|space)?separator)$/;

/** The scripts whose full name has four letters, as the codes have that JavaScript knows besides and Go does not. */
const fourLetters = ["Ahom", "Cham", "Kawi", "Lisu", "Miao", "Modi", "Newa", "Thai", "Toto"];

export function isUnicodeClass(name: string): boolean {
  const plain = name.replaceAll(/[ _-]/g, "").toLowerCase();
  return categories.test(plain) || isScript(plain.slice(0, 1).toUpperCase() + plain.slice(1));
}

/** Names of two words never match: Go leaves out the _ of what it looks for, but not of the names it has. */
function isScript(name: string): boolean {
  if (!/^[A-Z][a-z]+$/.test(name) || (name.length === 4 && !fourLetters.includes(name))) return false;
  try {
    new RegExp(`\\p{Script=${name}}`, "u");
    return true;
  } catch {
    return false; // a syntax error: there is no such script
  }
}

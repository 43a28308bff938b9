//! Which four bytes of a literal are met least often in logs: what the scan of [`crate::literals`] knows it by.
//!
//! A mark that stands in every other line costs more than the scan itself, so that what is chosen matters more than
//! how it is looked up. The estimate is coarse and only ever decides between grams of one literal.

/// Where the two neighbouring fours begin that are least likely to stand in a log.
pub(crate) fn rarest(bytes: &[u8]) -> usize {
    if bytes.len() < 5 {
        return 0;
    }
    let (mut best, mut cheapest) = (0, u32::MAX);
    let (mut first, mut second) = (frequency(bytes, 0), frequency(bytes, 1));
    for at in 0..bytes.len() - 4 {
        let third = frequency(bytes, at + 2);
        let cost = first + 2 * second + third;
        if cost < cheapest {
            (best, cheapest) = (at, cost);
        }
        (first, second) = (second, third);
    }
    best
}

/// How often the triple at a position stands in logs, roughly, for comparison.
fn frequency(bytes: &[u8], at: usize) -> u32 {
    let [first, second, third] = [bytes[at], bytes[at + 1], bytes[at + 2]];
    let each: u32 = [first, second, third]
        .iter()
        .map(|byte| u32::from(COMMON[usize::from(*byte)]))
        .sum();
    let same = first == second && second == third;
    let frequent = same || FREQUENT_PLACES[place([first, second, third])];
    each + if frequent { 300 } else { 0 }
}

/// Triples that stand in most logs, whatever their bytes suggest.
const FREQUENT: [[u8; 3]; 213] = [
    *b"ing", *b"err", *b"rro", *b"ror", *b"or:", *b"r: ", *b"war", *b"arn", *b"rni", *b"nin", *b"ng:",
    *b"g: ", *b"the", *b"ion", *b"tio", *b"ati", *b"ent", *b"for", *b"com", *b"omp", *b"mpi", *b"pil",
    *b"ile", *b"bui", *b"uil", *b"ild", *b"tes", *b"est", *b"ass", *b"pas", *b"fai", *b"ail", *b"led",
    *b"src", *b"rc/", *b"und", *b"nde", *b"def", *b"ter", *b"ers", *b"ver", *b"ble", *b"inc", *b"ncl",
    *b"clu", *b"lud", *b"ude", *b"fun", *b"unc", *b"nct", *b"cti", *b"sys", *b"sub", *b"lib", *b"obj",
    *b"tar", *b"con", *b"res", *b"sed", *b"Com", *b"e: ", *b"s: ", *b"-> ", *b"is ", *b" in", *b"in ",
    *b"ed ", *b"d: ", *b"/te", *b" --", *b"ng ", *b"ine", *b"ted", *b"exp", *b"exi", *b"xit", *b"it ",
    *b"de ", *b"rs ", *b"me ", *b"ome", *b" te", *b" er", *b"ect", *b"Err", *b"on ", *b" no", *b"dep",
    *b" de", *b"tal", *b"ept", *b"all", *b"not", *b" co", *b"or ", *b" pa", *b"ot ", *b" re", *b"sts",
    *b"sse", *b"st ", *b"ly ", *b" to", *b"to ", *b" ex", *b"ld/", *b"lly", *b"le ", *b"Tes", *b" su",
    *b"ed,", *b"nd ", *b"es ", *b"fin", *b" fi", *b"suc", *b"eed", *b"th ", *b" th", *b"t: ", *b"pec",
    *b"her", *b"cce", *b"lin", *b"ucc", *b" un", *b" fo", *b"ure", *b"ata", *b"sec", *b"age", *b"int",
    *b" ca", *b"fil", *b" | ", *b"ser", *b"run", *b"ode", *b"at ", *b"les", *b"ore", *b" pr", *b"ert",
    *b"abl", *b" li", *b" is", *b"mpl", *b"no ", *b"oun", *b"he ", *b"ts ", *b"ess", *b"er ", *b"ple",
    *b"red", *b"ide", *b"ate", *b"use", *b" ru", *b"pro", *b"nt ", *b"ith", *b" wa", *b"rea", *b"ase",
    *b" wi", *b"wit", *b"ack", *b"ind", *b" of", *b"nte", *b"sta", *b"ite", *b"of ", *b" bu", *b"ces",
    *b" at", *b"rin", *b"ake", *b"and", *b" st", *b"re ", *b"te ", *b"dat", *b"cod", *b"ead", *b"ort",
    *b"ere", *b"ste", *b"tem", *b"jec", *b"ont", *b"igh", *b"men", *b"lic", *b"str", *b"ist", *b"gra",
    *b"ERR", *b"RRO", *b"ROR", *b"OR:", *b"R: ", *b"FAI", *b"AIL", *b"ILE", *b"LED", *b"EST", *b"TES",
    *b"ade", *b"out", *b"low", *b"ual",
];

/// The places of the frequent triples in a small table; another triple may share one.
static FREQUENT_PLACES: [bool; PLACES] = {
    let mut frequent = [false; PLACES];
    let mut at = 0;
    while at < FREQUENT.len() {
        frequent[place(FREQUENT[at])] = true;
        at += 1;
    }
    frequent
};

const PLACES: usize = 1 << 12;

const fn place([first, second, third]: [u8; 3]) -> usize {
    let packed = u32::from_le_bytes([first, second, third, 0]);
    (packed.wrapping_mul(0x9E37_79B1) >> 20) as usize
}

/// How common a byte is in logs, roughly, in parts of a thousand.
#[inline]
pub(crate) fn commonness(byte: u8) -> u8 {
    COMMON[usize::from(byte)]
}

static COMMON: [u8; 256] = {
    let mut common = [5; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        common[byte as usize] = match byte {
            b' ' => 120,
            b'e' | b't' | b'a' | b'o' | b'i' | b'n' | b's' | b'r' => 60,
            b'l' | b'd' | b'c' | b'u' | b'm' | b'p' | b'/' | b'.' | b'_' | b'-' => 35,
            b'0'..=b'9' | b':' | b'=' => 30,
            b'a'..=b'z' => 18,
            b'A'..=b'Z' => 8,
            _ => 5,
        };
        byte += 1;
    }
    common
};

#[cfg(test)]
mod tests {
    use super::rarest;

    #[test]
    fn what_stands_in_most_logs_is_passed_over() {
        for (literal, rare) in [("error: {Qed} in ", 'Q'), ("warning: XZQ unused", 'Z')] {
            let at = rarest(literal.as_bytes());
            assert!(literal[at..at + 5].contains(rare), "{literal}: {at}");
        }
    }
}

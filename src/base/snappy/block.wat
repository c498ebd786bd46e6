;; One snappy block to its plain bytes. tools/wasm makes block-wasm.ts of it: `node tools/wasm/build.ts`.
;;
;; The caller lays the block into memory and says where its elements begin ($in) and end ($inEnd), and where the plain
;; bytes shall begin ($out) and end ($outEnd). The answer is 1 when the elements are whole and fill just that, else 0.
;; Up to 16 bytes behind both ends are read or written over: the caller leaves them free.
;;
;;   element = tag (1 byte) | what the tag's low two bits say:
;;     0 literal   length - 1 in the tag's other bits, or 60 to 63: in the 1 to 4 bytes that follow; then the bytes
;;     1 copy      length - 4 in three bits; how far back in three bits and a byte
;;     2, 3 copy   length - 1 in six bits; how far back in two or four bytes
;;   A copy may begin so near that it reads what it writes.
(module
  (memory (export "memory") 3 3)
  (func (export "decode")
    (param $in i32) (param $inEnd i32) (param $out i32) (param $outEnd i32) (result i32)
    (local $tag i32) (local $length i32) (local $back i32) (local $from i32) (local $stop i32) (local $outStart i32)
    (local.set $outStart (local.get $out))
    (block $bad
      (loop $element
        (if (i32.ge_u (local.get $in) (local.get $inEnd))
          (then (return (i32.eq (local.get $out) (local.get $outEnd)))))
        (local.set $tag (i32.load8_u (local.get $in)))
        (local.set $in (i32.add (local.get $in) (i32.const 1)))
        (local.set $length (i32.add (i32.shr_u (local.get $tag) (i32.const 2)) (i32.const 1)))

        (if (i32.eqz (i32.and (local.get $tag) (i32.const 3)))
          (then
            (if (i32.gt_u (local.get $length) (i32.const 60))
              (then
                ;; $back: how many bytes the length has
                (local.set $back (i32.sub (local.get $length) (i32.const 60)))
                (br_if $bad (i32.gt_u (local.get $back) (i32.sub (local.get $inEnd) (local.get $in))))
                (local.set $length
                  (i32.add
                    (i32.and
                      (i32.load (local.get $in))
                      (i32.shr_u (i32.const -1) (i32.sub (i32.const 32) (i32.shl (local.get $back) (i32.const 3)))))
                    (i32.const 1)))
                (local.set $in (i32.add (local.get $in) (local.get $back)))))
            ;; less one, so that a length of 2^32, which is 0 here, is refused as well
            (br_if $bad
              (i32.ge_u (i32.sub (local.get $length) (i32.const 1)) (i32.sub (local.get $inEnd) (local.get $in))))
            (br_if $bad (i32.gt_u (local.get $length) (i32.sub (local.get $outEnd) (local.get $out))))
            (if (i32.le_u (local.get $length) (i32.const 16))
              (then (v128.store (local.get $out) (v128.load (local.get $in))))
              (else (memory.copy (local.get $out) (local.get $in) (local.get $length))))
            (local.set $in (i32.add (local.get $in) (local.get $length)))
            (local.set $out (i32.add (local.get $out) (local.get $length)))
            (br $element)))

        (if (i32.eq (i32.and (local.get $tag) (i32.const 3)) (i32.const 1))
          (then
            (br_if $bad (i32.ge_u (local.get $in) (local.get $inEnd)))
            (local.set $length
              (i32.add (i32.and (i32.shr_u (local.get $tag) (i32.const 2)) (i32.const 7)) (i32.const 4)))
            (local.set $back
              (i32.or
                (i32.shl (i32.and (local.get $tag) (i32.const 0xe0)) (i32.const 3))
                (i32.load8_u (local.get $in))))
            (local.set $in (i32.add (local.get $in) (i32.const 1))))
          (else
            (if (i32.eq (i32.and (local.get $tag) (i32.const 3)) (i32.const 2))
              (then
                (br_if $bad (i32.gt_u (i32.const 2) (i32.sub (local.get $inEnd) (local.get $in))))
                (local.set $back (i32.load16_u (local.get $in)))
                (local.set $in (i32.add (local.get $in) (i32.const 2))))
              (else
                (br_if $bad (i32.gt_u (i32.const 4) (i32.sub (local.get $inEnd) (local.get $in))))
                (local.set $back (i32.load (local.get $in)))
                (local.set $in (i32.add (local.get $in) (i32.const 4)))))))

        ;; less one, so that 0, which would copy from nowhere, is refused as well
        (br_if $bad
          (i32.ge_u (i32.sub (local.get $back) (i32.const 1)) (i32.sub (local.get $out) (local.get $outStart))))
        (br_if $bad (i32.gt_u (local.get $length) (i32.sub (local.get $outEnd) (local.get $out))))
        (local.set $from (i32.sub (local.get $out) (local.get $back)))
        (local.set $stop (i32.add (local.get $out) (local.get $length)))
        (if (i32.ge_u (local.get $back) (i32.const 16))
          (then
            (loop $sixteen
              (v128.store (local.get $out) (v128.load (local.get $from)))
              (local.set $from (i32.add (local.get $from) (i32.const 16)))
              (local.set $out (i32.add (local.get $out) (i32.const 16)))
              (br_if $sixteen (i32.lt_u (local.get $out) (local.get $stop)))))
          (else
            (loop $one
              (i32.store8 (local.get $out) (i32.load8_u (local.get $from)))
              (local.set $from (i32.add (local.get $from) (i32.const 1)))
              (local.set $out (i32.add (local.get $out) (i32.const 1)))
              (br_if $one (i32.lt_u (local.get $out) (local.get $stop))))))
        (local.set $out (local.get $stop))
        (br $element)))
    (i32.const 0)))

// Numbers that zip's reader and writer share.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fovea {

inline constexpr uint32_t kZipLocalSignature = 0x04034b50;
inline constexpr uint32_t kZipCentralSignature = 0x02014b50;
inline constexpr uint32_t kZipEndSignature = 0x06054b50;
inline constexpr uint32_t kZip64EndSignature = 0x06064b50;
inline constexpr uint32_t kZip64LocatorSignature = 0x07064b50;

inline constexpr size_t kZipLocalBytes = 30;
inline constexpr size_t kZipCentralBytes = 46;
inline constexpr size_t kZipEndBytes = 22;
inline constexpr size_t kZip64EndBytes = 56;
inline constexpr size_t kZip64LocatorBytes = 20;

// A field that holds this has its value in a zip64 record.
inline constexpr uint16_t kZip16Full = 0xffff;
inline constexpr uint32_t kZip32Full = 0xffffffff;

inline constexpr uint16_t kZip64ExtraId = 0x0001;
inline constexpr uint16_t kZipStored = 0;
inline constexpr uint16_t kZipDeflated = 8;
inline constexpr uint16_t kZipFlagEncrypted = 1 << 0;
inline constexpr uint16_t kZipFlagPatched = 1 << 5;
inline constexpr uint16_t kZipFlagStrongEncryption = 1 << 6;
inline constexpr uint16_t kZipFlagUtf8 = 1 << 11;
inline constexpr uint16_t kZipFlagMasked = 1 << 13;

}  // namespace fovea
